import { checkCli, checkProxy, foreignTerminal } from "./check-cli";
import { checkDiffs } from "./check-diffs";
import { checkDiscovery } from "./check-discovery";
import { checkHooks } from "./check-hooks";
import { editorsHere, type Facts } from "./facts";
import type { Finding } from "./finding";

/** Lists what Neovims here say of themselves, and our own findings. */
export function runChecks(facts: Facts): Finding[] {
  const found = [
    checkCli(facts),
    ...checkDiscovery(facts),
    foreignTerminal(facts),
    checkProxy(facts),
    checkDiffs(facts),
    checkHooks(facts),
  ];
  return [...ownFindings(facts), ...found.filter((finding) => finding !== undefined)];
}

function ownFindings({ editors, cwd }: Facts): Finding[] {
  return editorsHere(editors, cwd).flatMap(({ inside, report }) => {
    const who = inside ? "" : `Neovim ${report?.pid}: `;
    return (report?.findings ?? []).map((finding) => ({ ...finding, what: who + finding.what }));
  });
}
