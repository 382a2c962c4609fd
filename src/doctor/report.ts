import { type Finding, isFault } from "./finding";

const LABELS = { ok: "ok    ", note: "note  ", warning: "WARN  ", error: "FAIL  " } as const;
const INDENT = " ".repeat(6);

/** The findings as lines for a person. */
export function report(findings: readonly Finding[]): string {
  const lines = findings.flatMap((finding) => {
    const line = LABELS[finding.level] + finding.what;
    return isFault(finding) ? [line, `${INDENT}to mend it, ${finding.remedy}`] : [line];
  });
  return `${lines.join("\n")}\n`;
}
