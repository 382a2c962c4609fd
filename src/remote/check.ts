/** Placeholder. */
export function printCheck(): number {
  return 0;
}
