/** Strokes on a square of 24. */
const SHAPES = {
  table: 'M4 5h16v14H4zM4 10h16M10 10v9',
  query: 'M4 5l5 5-5 5M11 19h9',
  source: 'M12 3v9m0 0 4-4m-4 4L8 8M4 15v3a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-3',
  run: 'M7 4.5v15l12-7.5z',
  chart: 'M4 20h16M7 16v-5M12 16V5M17 16v-8',
  job: 'M4 6h10M4 12h16M4 18h7M17 4l2 2 3-3',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  token: 'M14 10a4 4 0 1 0-3.5 4L13 16.5h2v2h2v2h3v-3l-6.5-6.5',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  check: 'M5 12l5 5 9-10',
  alert: 'M12 4 2.5 20h19zM12 10v4M12 17v.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.01',
  right: 'M9 5l7 7-7 7',
  down: 'M5 9l7 7 7-7',
  up: 'M5 15l7-7 7 7',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  more: 'M5 12v.01M12 12v.01M19 12v.01',
  download: 'M12 4v11m0 0 4-4m-4 4-4-4M5 20h14',
  upload: 'M12 16V5m0 0 4 4m-4-4L8 9M5 20h14',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  edit: 'M4 20h4L19 9l-4-4L4 16z',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  refresh: 'M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6',
  branch: 'M7 4v16M7 8a3 3 0 1 0 0-4M17 6a3 3 0 1 0 0 .01M17 9c0 5-10 3-10 8',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c1-4 4-6 8-6s7 2 8 6',
  link: 'M10 14l4-4M8 12l-3 3a4 4 0 0 0 5.5 5.5l3-3M16 12l3-3A4 4 0 0 0 13.500 3.500l-3 3',
  grip: 'M9 6v.01M15 6v.01M9 12v.01M15 12v.01M9 18v.01M15 18v.01',
  keyboard: 'M3 7h18v10H3zM7 11v.01M11 11v.01M15 11v.01M8 14h8',
} as const;

export type IconName = keyof typeof SHAPES;

/** Shows an icon beside words, or in a button with a name: it has no text of its own. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}
