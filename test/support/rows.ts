/** Rows for `test.each`: one per line, with cells separated by " | ". */
export const rows = (table: string | string[]): string[][] => {
  const lines = [table].flat().join("\n").trim().split("\n");
  const cells = (line: string) => line.trimStart().split(/(?<= )\|(?= |$)/);
  return lines.map((line) => cells(line).map((cell) => cell.trimEnd().replace(/^ /, "")));
};
