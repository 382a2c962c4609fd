import { type Finding, isProblem } from "./finding";

const LABELS = { ok: "ok    ", note: "note  ", warning: "WARN  ", error: "FAIL  " } as const;
const INDENT = " ".repeat(6);

/** The findings as lines for the user. */
export function formatReport(findings: readonly Finding[]): string {
  const lines = findings.flatMap((finding) => {
    const line = LABELS[finding.level] + finding.what;
    return isProblem(finding) ? [line, `${INDENT}to fix it, ${finding.remedy}`] : [line];
  });
  return `${lines.join("\n")}\n`;
}
