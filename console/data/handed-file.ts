let kept: File | undefined;

/** Keeps a file that is dropped in one view for another, which takes it. */
export function handFile(file: File): void {
  kept = file;
}

export function takeFile(): File | undefined {
  const file = kept;
  kept = undefined;
  return file;
}
