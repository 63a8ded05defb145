type Work = () => Promise<void> | void;

const works: Work[] = [];

/**
 * Does something when the test file has ended. A module of helpers is loaded once for many files, so that a hook of its
 * own would belong to the first of them.
 */
export function atEndOfFile(work: Work): void {
  works.push(work);
}

export async function endFile(): Promise<void> {
  for (const work of works.splice(0).toReversed()) await work();
}
