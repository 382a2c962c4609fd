import { checkCli } from "./check-cli";
import { foreignTerminal } from "./check-container";
import { checkDiffs } from "./check-diffs";
import { checkDiscovery } from "./check-discovery";
import { checkLanguageServers } from "./check-editor";
import { checkHooks } from "./check-hooks";
import { checkProxy } from "./check-proxy";
import { checkRemotes } from "./check-remotes";
import { checkScreen } from "./check-screen";
import { checkSettings } from "./check-settings";
import { isHere } from "./editors";
import type { Facts } from "./facts";
import { type Finding, isProblem } from "./finding";

/** All findings, each cause once: the first check that sees it reports it. */
export function runChecks(facts: Facts): Finding[] {
  const seen = new Set<string>();
  const found = findings(facts).filter((finding) => finding !== undefined);
  return found.filter((finding) => {
    if (!isProblem(finding)) return true;
    const isFirst = !seen.has(finding.cause);
    seen.add(finding.cause);
    return isFirst;
  });
}

function findings(facts: Facts): (Finding | undefined)[] {
  const here = facts.editors.filter((editor) => isHere(editor, facts.cwd));
  return [
    checkCli(facts),
    checkSettings(facts),
    ...checkDiscovery(facts),
    ...foreignTerminal(facts),
    ...checkRemotes(facts),
    checkProxy(facts),
    checkDiffs(facts),
    checkScreen(facts),
    checkHooks(facts),
    ...here.map(checkLanguageServers),
  ];
}
