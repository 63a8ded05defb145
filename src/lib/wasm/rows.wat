;; Reading of rows of JSON and writing of their lines in CSV, many at a time. What these functions do is what the scanner
;; (lib/json/scan.ts) and the writer of rows from bytes (engine/records/emit-raw.ts) do for one row after the other. They
;; stop in front of a row at the first thing that they do not know; that row is then left to the code in TypeScript.
;;
;; Memory, as rows.ts fills it:
;;   0x00     end of the columns; room that a line needs beyond the bytes of its row; cells of null, true and false, and
;;            what is behind the cells of each row (address and length each); values that are noted in each row
;;   0x30     the columns, 16 bytes each: name in quotes (address, length), number among the noted values or -1, and 1 where
;;            nothing but null may come; behind them the texts
;;   0x10000  rows, and zeros behind them: no row goes on with a zero
;;   0x21000  begin and end of the rows that were written
;;   0x29000  begin of the noted values; 0 where they are missing
;;   0x39000  lines
(module
  (memory (export "memory") 8)
  ;; Where the first row begins that was not done, or the comma in front of it.
  (global $at (export "at") (mut i32) (i32.const 0))
  ;; End of the lines.
  (global $out (export "out") (mut i32) (i32.const 0))
  ;; How far the row was read that was not done.
  (global $reached (export "reached") (mut i32) (i32.const 0))
  ;; End of the last row that was skipped.
  (global $behind (export "behind") (mut i32) (i32.const 0))
  ;; 1 where JSON.parse loses nothing of the rows that were skipped.
  (global $plain (export "plain") (mut i32) (i32.const 0))

  (func $behindWhite (param $at i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.or
            (i32.or (i32.eq (local.get $byte) (i32.const 0x20)) (i32.eq (local.get $byte) (i32.const 0x0a)))
            (i32.or (i32.eq (local.get $byte) (i32.const 0x0d)) (i32.eq (local.get $byte) (i32.const 0x09))))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $at))

  ;; Number of digits at an address; 16 stands for more, too.
  (func $digits (param $at i32) (result i32)
    (i32.ctz (i32.xor (i32.const -1)
      (i8x16.bitmask (i8x16.lt_u
        (i8x16.sub (v128.load (local.get $at)) (i8x16.splat (i32.const 0x30)))
        (i8x16.splat (i32.const 10)))))))

  ;; The byte that stands for an escape of one letter, but for the quote; 0 for another.
  (func $escaped (param $letter i32) (result i32)
    (if (i32.eq (local.get $letter) (i32.const 0x6e)) (then (return (i32.const 0x0a)))) ;; n
    (if (i32.eq (local.get $letter) (i32.const 0x2f)) (then (return (i32.const 0x2f)))) ;; /
    (if (i32.eq (local.get $letter) (i32.const 0x5c)) (then (return (i32.const 0x5c)))) ;; \
    (if (i32.eq (local.get $letter) (i32.const 0x72)) (then (return (i32.const 0x0d)))) ;; r
    (if (i32.eq (local.get $letter) (i32.const 0x74)) (then (return (i32.const 0x09)))) ;; t
    (if (i32.eq (local.get $letter) (i32.const 0x62)) (then (return (i32.const 0x08)))) ;; b
    (if (i32.eq (local.get $letter) (i32.const 0x66)) (then (return (i32.const 0x0c)))) ;; f
    (i32.const 0))

  ;; Copies bytes and returns the address behind the copy; up to 16 are written in any case.
  (func $put (param $out i32) (param $from i32) (param $length i32) (result i32)
    (if (i32.gt_u (local.get $length) (i32.const 16))
      (then (memory.copy (local.get $out) (local.get $from) (local.get $length)))
      (else (v128.store (local.get $out) (v128.load (local.get $from)))))
    (i32.add (local.get $out) (local.get $length)))

  ;; Writes the lines of rows, $most of them at most. $at is the beginning of the first row, or of the comma in front of it.
  (func (export "write")
    (param $at i32) (param $end i32) (param $isFirst i32) (param $most i32) (param $out i32) (param $outEnd i32)
    (result i32)
    (local $done i32) (local $rowAt i32) (local $rowOut i32) (local $start i32) (local $noted i32) (local $notedBytes i32)
    (local $column i32) (local $last i32) (local $name i32) (local $left i32) (local $same i32) (local $slot i32)
    (local $byte i32) (local $mask i32) (local $from i32) (local $whole i32) (local $part i32) (local $bytes v128)
    (local $quote v128) (local $backslash v128) (local $space v128)
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $backslash (i8x16.splat (i32.const 0x5c)))
    (local.set $space (i8x16.splat (i32.const 0x20)))
    (local.set $last (i32.load (i32.const 0x00)))
    (local.set $notedBytes (i32.shl (i32.load (i32.const 0x28)) (i32.const 2)))
    (local.set $noted (i32.const 0x29000))
    (block $stop
      (loop $row
        (local.set $rowAt (local.get $at))
        (local.set $rowOut (local.get $out))
        (br_if $stop (i32.eq (local.get $done) (local.get $most)))
        (br_if $stop (i32.gt_u
          (i32.add (i32.add (local.get $out) (i32.sub (local.get $end) (local.get $at))) (i32.load (i32.const 0x04)))
          (local.get $outEnd)))
        (local.set $at (call $behindWhite (local.get $at)))
        (if (i32.eqz (local.get $isFirst))
          (then
            (br_if $stop (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x2c)))
            (local.set $at (call $behindWhite (i32.add (local.get $at) (i32.const 1))))))
        (br_if $stop (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x7b)))
        (local.set $start (local.get $at))
        (memory.fill (local.get $noted) (i32.const 0) (local.get $notedBytes))
        (local.set $column (i32.const 0x30))
        (local.set $at (call $behindWhite (i32.add (local.get $at) (i32.const 1))))
        (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x7d))
          (then
            (loop $property
              ;; the column of the name; those in front of it are missing
              (block $found
                (loop $search
                  (br_if $stop (i32.eq (local.get $column) (local.get $last)))
                  (local.set $name (i32.load (local.get $column)))
                  (local.set $left (i32.load offset=4 (local.get $column)))
                  (local.set $from (local.get $at))
                  (block $other
                    (loop $compare
                      (local.set $same (i32.ctz (i32.xor (i32.const -1)
                        (i8x16.bitmask (i8x16.eq (v128.load (local.get $from)) (v128.load (local.get $name)))))))
                      (br_if $found (i32.ge_u (local.get $same) (local.get $left)))
                      (br_if $other (i32.lt_u (local.get $same) (i32.const 16)))
                      (local.set $from (i32.add (local.get $from) (i32.const 16)))
                      (local.set $name (i32.add (local.get $name) (i32.const 16)))
                      (local.set $left (i32.sub (local.get $left) (i32.const 16)))
                      (br $compare)))
                  (i32.store (local.get $out) (i32.const 0x2c2222)) ;; "",
                  (local.set $out (i32.add (local.get $out) (i32.const 3)))
                  (local.set $column (i32.add (local.get $column) (i32.const 16)))
                  (br $search)))
              (local.set $at (i32.add (local.get $from) (local.get $left)))
              (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x3a))
                (then
                  (local.set $at (call $behindWhite (local.get $at)))
                  (br_if $stop (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x3a)))))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (local.set $byte (i32.load8_u (local.get $at)))
              (if (i32.le_u (local.get $byte) (i32.const 0x20))
                (then
                  (local.set $at (call $behindWhite (local.get $at)))
                  (local.set $byte (i32.load8_u (local.get $at)))))
              (local.set $slot (i32.load offset=8 (local.get $column)))
              (if (i32.ge_s (local.get $slot) (i32.const 0))
                (then
                  (i32.store
                    (i32.add (local.get $noted) (i32.shl (local.get $slot) (i32.const 2)))
                    (i32.sub (local.get $at) (i32.const 0x10000)))))
              (block $written
                (if (i32.eq (local.get $byte) (i32.const 0x6e)) ;; null
                  (then
                    (br_if $stop (i32.ne (i32.load (local.get $at)) (i32.const 0x6c6c756e)))
                    (local.set $at (i32.add (local.get $at) (i32.const 4)))
                    (local.set $out
                      (call $put (local.get $out) (i32.load (i32.const 0x08)) (i32.load (i32.const 0x0c))))
                    (br $written)))
                (br_if $stop (i32.load offset=12 (local.get $column)))
                (if (i32.eq (local.get $byte) (i32.const 0x22))
                  (then
                    (i32.store8 (local.get $out) (i32.const 0x22))
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (local.set $out (i32.add (local.get $out) (i32.const 1)))
                    (loop $text
                      (local.set $bytes (v128.load (local.get $at)))
                      (v128.store (local.get $out) (local.get $bytes))
                      (local.set $mask (i8x16.bitmask (v128.or
                        (v128.or
                          (i8x16.eq (local.get $bytes) (local.get $quote))
                          (i8x16.eq (local.get $bytes) (local.get $backslash)))
                        (i8x16.lt_u (local.get $bytes) (local.get $space)))))
                      (if (i32.eqz (local.get $mask))
                        (then
                          (local.set $at (i32.add (local.get $at) (i32.const 16)))
                          (local.set $out (i32.add (local.get $out) (i32.const 16)))
                          (br $text)))
                      (local.set $mask (i32.ctz (local.get $mask)))
                      (local.set $at (i32.add (local.get $at) (local.get $mask)))
                      (local.set $out (i32.add (local.get $out) (local.get $mask)))
                      (local.set $byte (i32.load8_u (local.get $at)))
                      (if (i32.eq (local.get $byte) (i32.const 0x22))
                        (then
                          (local.set $at (i32.add (local.get $at) (i32.const 1)))
                          (local.set $out (i32.add (local.get $out) (i32.const 1)))
                          (br $written)))
                      (br_if $stop (i32.ne (local.get $byte) (i32.const 0x5c)))
                      (local.set $byte (i32.load8_u offset=1 (local.get $at)))
                      (local.set $at (i32.add (local.get $at) (i32.const 2)))
                      (if (i32.eq (local.get $byte) (i32.const 0x22))
                        (then
                          (i32.store16 (local.get $out) (i32.const 0x2222))
                          (local.set $out (i32.add (local.get $out) (i32.const 2)))
                          (br $text)))
                      (local.set $byte (call $escaped (local.get $byte)))
                      (br_if $stop (i32.eqz (local.get $byte)))
                      (i32.store8 (local.get $out) (local.get $byte))
                      (local.set $out (i32.add (local.get $out) (i32.const 1)))
                      (br $text))))
                (if (i32.eq (local.get $byte) (i32.const 0x74)) ;; true
                  (then
                    (br_if $stop (i32.ne (i32.load (local.get $at)) (i32.const 0x65757274)))
                    (local.set $at (i32.add (local.get $at) (i32.const 4)))
                    (local.set $out
                      (call $put (local.get $out) (i32.load (i32.const 0x10)) (i32.load (i32.const 0x14))))
                    (br $written)))
                (if (i32.eq (local.get $byte) (i32.const 0x66)) ;; false
                  (then
                    (br_if $stop (i32.ne (i32.load offset=1 (local.get $at)) (i32.const 0x65736c61)))
                    (local.set $at (i32.add (local.get $at) (i32.const 5)))
                    (local.set $out
                      (call $put (local.get $out) (i32.load (i32.const 0x18)) (i32.load (i32.const 0x1c))))
                    (br $written)))
                ;; a number whose literal is the text of its cell: see jsonNumber in lib/bytes.ts
                (i32.store8 (local.get $out) (i32.const 0x22))
                (v128.store offset=1 (local.get $out) (v128.load (local.get $at)))
                (local.set $from (i32.add (local.get $at) (i32.eq (local.get $byte) (i32.const 0x2d))))
                (local.set $whole (call $digits (local.get $from)))
                (br_if $stop (i32.ge_u (i32.sub (local.get $whole) (i32.const 1)) (i32.const 15)))
                (local.set $left (i32.eq (i32.load8_u (local.get $from)) (i32.const 0x30)))
                (br_if $stop (i32.and (local.get $left) (i32.gt_u (local.get $whole) (i32.const 1))))
                (local.set $name (i32.add (local.get $from) (local.get $whole)))
                (if (i32.eq (i32.load8_u (local.get $name)) (i32.const 0x2e))
                  (then
                    (local.set $part (call $digits (i32.add (local.get $name) (i32.const 1))))
                    (br_if $stop (i32.eqz (local.get $part)))
                    (br_if $stop (i32.gt_u (i32.add (local.get $whole) (local.get $part)) (i32.const 14)))
                    (br_if $stop (i32.eq
                      (i32.load8_u (i32.add (local.get $name) (local.get $part))) (i32.const 0x30)))
                    ;; less than 0.001
                    (br_if $stop (i32.and (local.get $left) (i32.eq
                      (i32.and (i32.load offset=1 (local.get $name)) (i32.const 0xffffff)) (i32.const 0x303030))))
                    (local.set $name
                      (i32.add (i32.add (local.get $name) (local.get $part)) (i32.const 1)))
                    (br_if $stop (i32.eq (i32.load8_u (local.get $name)) (i32.const 0x2e))))
                  (else
                    ;; -0
                    (br_if $stop (i32.and (local.get $left) (i32.ne (local.get $from) (local.get $at))))))
                (br_if $stop (i32.eq
                  (i32.or (i32.load8_u (local.get $name)) (i32.const 0x20)) (i32.const 0x65)))
                (local.set $out (i32.add
                  (i32.add (local.get $out) (i32.sub (local.get $name) (local.get $at))) (i32.const 2)))
                (i32.store8 (i32.sub (local.get $out) (i32.const 1)) (i32.const 0x22))
                (local.set $at (local.get $name)))
              (i32.store8 (local.get $out) (i32.const 0x2c))
              (local.set $out (i32.add (local.get $out) (i32.const 1)))
              (local.set $column (i32.add (local.get $column) (i32.const 16)))
              (local.set $byte (i32.load8_u (local.get $at)))
              (if (i32.le_u (local.get $byte) (i32.const 0x20))
                (then
                  (local.set $at (call $behindWhite (local.get $at)))
                  (local.set $byte (i32.load8_u (local.get $at)))))
              (if (i32.eq (local.get $byte) (i32.const 0x2c))
                (then
                  (local.set $at (i32.add (local.get $at) (i32.const 1)))
                  (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
                    (then (local.set $at (call $behindWhite (local.get $at)))))
                  (br $property)))
              (br_if $stop (i32.ne (local.get $byte) (i32.const 0x7d))))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (block $full
          (loop $blank
            (br_if $full (i32.eq (local.get $column) (local.get $last)))
            (i32.store (local.get $out) (i32.const 0x2c2222))
            (local.set $out (i32.add (local.get $out) (i32.const 3)))
            (local.set $column (i32.add (local.get $column) (i32.const 16)))
            (br $blank)))
        ;; the last comma stays where something is behind the cells
        (local.set $left (i32.load (i32.const 0x24)))
        (if (local.get $left)
          (then (local.set $out (call $put (local.get $out) (i32.load (i32.const 0x20)) (local.get $left))))
          (else (local.set $out (i32.sub (local.get $out) (i32.const 1)))))
        (i32.store8 (local.get $out) (i32.const 0x0a))
        (local.set $out (i32.add (local.get $out) (i32.const 1)))
        (local.set $from (i32.add (i32.const 0x21000) (i32.shl (local.get $done) (i32.const 3))))
        (i32.store (local.get $from) (i32.sub (local.get $start) (i32.const 0x10000)))
        (i32.store offset=4 (local.get $from) (i32.sub (local.get $at) (i32.const 0x10000)))
        (local.set $noted (i32.add (local.get $noted) (local.get $notedBytes)))
        (local.set $done (i32.add (local.get $done) (i32.const 1)))
        (local.set $isFirst (i32.const 0))
        (br $row)))
    (global.set $reached (local.get $at))
    (global.set $at (local.get $rowAt))
    (global.set $out (local.get $rowOut))
    (local.get $done))

  ;; Tells whether a text of digits is a name, which an object would move to the front. $at is behind its quote.
  (func $isIntegerName (param $from i32) (param $at i32) (result i32)
    (i32.and
      (i32.eq (call $digits (local.get $from)) (i32.sub (i32.sub (local.get $at) (local.get $from)) (i32.const 1)))
      (i32.eq (i32.load8_u (call $behindWhite (local.get $at))) (i32.const 0x3a))))

  ;; Tells whether JSON.parse would lose a part of the escape whose backslash is at an address: see isTelling.
  (func $isTelling (param $at i32) (result i32)
    (if (i32.ne (i32.load8_u offset=1 (local.get $at)) (i32.const 0x75)) (then (return (i32.const 0))))
    (if (i32.eq (i32.or (i32.load8_u offset=2 (local.get $at)) (i32.const 0x20)) (i32.const 0x64))
      (then (return (i32.const 1))))
    (i32.and
      (i32.eq (i32.and (i32.load offset=2 (local.get $at)) (i32.const 0xffffff)) (i32.const 0x333030))
      (i32.lt_u (i32.sub (i32.load8_u offset=5 (local.get $at)) (i32.const 0x30)) (i32.const 10))))

  ;; Skips rows that begin before $until, with the commas behind them. $at is the beginning of the first one. A row is
  ;; skipped when what is behind it is known: the beginning of the next one, or the end of the list.
  (func (export "skip") (param $at i32) (param $until i32) (param $mostLevels i32) (result i32)
    (local $done i32) (local $rowAt i32) (local $rowEnd i32) (local $level i32) (local $from i32) (local $byte i32)
    (local $mask i32) (local $plain i32) (local $allPlain i32) (local $digits i32) (local $point i32) (local $exponent i32)
    (local $fraction i32) (local $bytes v128) (local $quote v128) (local $backslash v128) (local $space v128)
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $backslash (i8x16.splat (i32.const 0x5c)))
    (local.set $space (i8x16.splat (i32.const 0x20)))
    (local.set $allPlain (i32.const 1))
    (block $stop
      (loop $row
        (local.set $rowAt (local.get $at))
        (br_if $stop (i32.ge_u (local.get $at) (local.get $until)))
        (local.set $byte (i32.load8_u (local.get $at)))
        ;; another byte than { and [
        (br_if $stop (i32.ne (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7b)))
        (local.set $plain (i32.const 1))
        (local.set $level (i32.const 0))
        (loop $token
          (local.set $byte (i32.load8_u (local.get $at)))
          (if (i32.eq (local.get $byte) (i32.const 0x22))
            (then
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (local.set $from (local.get $at))
              (block $ended
                (loop $text
                  (local.set $bytes (v128.load (local.get $at)))
                  (local.set $mask (i8x16.bitmask (v128.or
                    (v128.or
                      (i8x16.eq (local.get $bytes) (local.get $quote))
                      (i8x16.eq (local.get $bytes) (local.get $backslash)))
                    (i8x16.lt_u (local.get $bytes) (local.get $space)))))
                  (if (i32.eqz (local.get $mask))
                    (then
                      (local.set $at (i32.add (local.get $at) (i32.const 16)))
                      (br $text)))
                  (local.set $at (i32.add (local.get $at) (i32.ctz (local.get $mask))))
                  (local.set $byte (i32.load8_u (local.get $at)))
                  (br_if $ended (i32.eq (local.get $byte) (i32.const 0x22)))
                  (br_if $stop (i32.ne (local.get $byte) (i32.const 0x5c)))
                  (if (call $isTelling (local.get $at)) (then (local.set $plain (i32.const 0))))
                  (local.set $at (i32.add (local.get $at) (i32.const 2)))
                  (br $text)))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (if (i32.lt_u (i32.sub (i32.load8_u (local.get $from)) (i32.const 0x30)) (i32.const 10))
                (then
                  (if (i32.le_u (i32.sub (local.get $at) (local.get $from)) (i32.const 11))
                    (then
                      (if (call $isIntegerName (local.get $from) (local.get $at))
                        (then (local.set $plain (i32.const 0))))))))
              (br $token)))
          (if (i32.or
                (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
                (i32.eq (local.get $byte) (i32.const 0x2d)))
            (then
              (local.set $from (local.get $at))
              (local.set $digits (i32.const 0))
              (local.set $point (i32.const 0))
              (local.set $exponent (i32.const 0))
              (local.set $fraction (i32.const 0))
              (block $ended
                (loop $number
                  (if (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10))
                    (then
                      (local.set $digits (i32.add (local.get $digits) (i32.const 1)))
                      (local.set $fraction (i32.or
                        (local.get $fraction)
                        (i32.and (local.get $point) (i32.ne (local.get $byte) (i32.const 0x30))))))
                    (else
                      (if (i32.eq (local.get $byte) (i32.const 0x2e))
                        (then (local.set $point (i32.const 1)))
                        (else
                          (if (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x65))
                            (then (local.set $exponent (i32.const 1)))
                            (else
                              (br_if $ended (i32.and
                                (i32.ne (local.get $byte) (i32.const 0x2b))
                                (i32.ne (local.get $byte) (i32.const 0x2d))))))))))
                  (local.set $at (i32.add (local.get $at) (i32.const 1)))
                  (local.set $byte (i32.load8_u (local.get $at)))
                  (br $number)))
              ;; more digits than a double has, an exponent, 1.0 and -0
              (if (i32.or
                    (i32.or (local.get $exponent) (i32.gt_u (local.get $digits) (i32.const 15)))
                    (i32.or
                      (i32.and
                        (local.get $point)
                        (i32.or (i32.eqz (local.get $fraction)) (i32.gt_u (local.get $digits) (i32.const 14))))
                      (i32.and
                        (i32.eq (i32.load16_u (local.get $from)) (i32.const 0x302d))
                        (i32.eq (i32.sub (local.get $at) (local.get $from)) (i32.const 2)))))
                (then (local.set $plain (i32.const 0))))
              (br $token)))
          (br_if $stop (i32.eqz (local.get $byte)))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (if (i32.eq (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7b))
            (then
              (local.set $level (i32.add (local.get $level) (i32.const 1)))
              (br_if $stop (i32.gt_s (local.get $level) (local.get $mostLevels)))
              (br $token)))
          (br_if $token (i32.ne (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x7d)))
          (local.set $level (i32.sub (local.get $level) (i32.const 1)))
          (br_if $token (local.get $level)))
        (local.set $rowEnd (local.get $at))
        (local.set $at (call $behindWhite (local.get $at)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (if (i32.eq (local.get $byte) (i32.const 0x2c))
          (then
            (local.set $at (call $behindWhite (i32.add (local.get $at) (i32.const 1))))
            (local.set $byte (i32.load8_u (local.get $at)))
            (br_if $stop (i32.or (i32.eqz (local.get $byte)) (i32.eq (local.get $byte) (i32.const 0x5d)))))
          (else (br_if $stop (i32.ne (local.get $byte) (i32.const 0x5d)))))
        (local.set $done (i32.add (local.get $done) (i32.const 1)))
        (global.set $behind (local.get $rowEnd))
        (local.set $allPlain (i32.and (local.get $allPlain) (local.get $plain)))
        (br $row)))
    (global.set $at (local.get $rowAt))
    (global.set $plain (local.get $allPlain))
    (local.get $done)))
