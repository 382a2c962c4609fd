import { checkCli, checkProxy, foreignTerminal } from "./check-cli";
import { checkDiffs } from "./check-diffs";
import { checkDiscovery } from "./check-discovery";
import { checkHooks } from "./check-hooks";
import { editorsHere, type Facts } from "./facts";
import type { Finding } from "./finding";

/** What Neovims here say of themselves, and our own findings, each cause once: of the check that sees it first. */
export function runChecks(facts: Facts): Finding[] {
  const seen = new Set<string>();
  const found = checks(facts).filter((finding) => {
    if (!finding?.cause) return finding !== undefined;
    const isFirst = !seen.has(finding.cause);
    seen.add(finding.cause);
    return isFirst;
  });
  return [...ownFindings(facts), ...found.filter((finding) => finding !== undefined)];
}

function ownFindings({ editors, cwd }: Facts): Finding[] {
  return editorsHere(editors, cwd).flatMap(({ inside, report }) => {
    const who = inside ? "" : `Neovim ${report?.pid}: `;
    return (report?.findings ?? []).map((finding) => ({ ...finding, what: who + finding.what }));
  });
}

function checks(facts: Facts): (Finding | undefined)[] {
  return [
    checkCli(facts),
    ...checkDiscovery(facts),
    foreignTerminal(facts),
    checkProxy(facts),
    checkDiffs(facts),
    checkHooks(facts),
  ];
}
