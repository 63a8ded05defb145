/**
 * Abbreviations of time zones, in lower case, and their seconds east of UTC. Where one abbreviation is used in
 * several places, it is what PHP 7.4 takes: `ist` is Israel, `bst` Britain, `cst` North America.
 */
export const ABBREVIATIONS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    utc: 0,
    gmt: 0,
    ut: 0,
    // Europe and Africa
    wet: 0,
    west: 1,
    bst: 1,
    cet: 1,
    cest: 2,
    met: 1,
    mest: 2,
    eet: 2,
    eest: 3,
    msk: 3,
    msd: 4,
    wat: 1,
    cat: 2,
    sast: 2,
    eat: 3,
    // Asia
    ist: 2,
    idt: 3,
    pkt: 5,
    wib: 7,
    wita: 8,
    wit: 9,
    hkt: 8,
    jst: 9,
    kst: 9,
    // Australia and the Pacific
    awst: 8,
    awdt: 9,
    acst: 9.5,
    acdt: 10.5,
    aest: 10,
    aedt: 11,
    chst: 10,
    nzst: 12,
    nzdt: 13,
    sst: -11,
    hst: -10,
    hdt: -9,
    // America
    akst: -9,
    akdt: -8,
    pst: -8,
    pdt: -7,
    mst: -7,
    mdt: -6,
    cst: -6,
    cdt: -5,
    est: -5,
    edt: -4,
    ast: -4,
    adt: -3,
    nst: -3.5,
    ndt: -2.5,
    // military letters; J is local time and means none
    ...letters('abcdefghiklm', (place) => place + 1),
    ...letters('nopqrstuvwxy', (place) => -place - 1),
    z: 0,
  }).map(([name, hours]) => [name, hours * 3600]),
);

function letters(alphabet: string, hoursOf: (place: number) => number): Record<string, number> {
  return Object.fromEntries(Array.from(alphabet).map((letter, place) => [letter, hoursOf(place)]));
}
