import { checkCli } from "./check-cli";
import { checkDiffs } from "./check-diffs";
import { checkDiscovery } from "./check-discovery";
import { checkLanguageServers, checkStates } from "./check-editor";
import { checkHooks } from "./check-hooks";
import { checkLanguagePlugins } from "./check-language-plugins";
import { checkProxy } from "./check-proxy";
import { checkSettings } from "./check-settings";
import { isHere } from "./editors";
import type { Facts } from "./facts";
import { type Finding, isProblem } from "./finding";

/** All findings, each cause once: the first check that sees it reports it. */
export function runChecks(facts: Facts): Finding[] {
  const seen = new Set<string>();
  return [...findings(facts)].filter((finding) => {
    if (!isProblem(finding)) return true;
    const isFirst = !seen.has(finding.cause);
    seen.add(finding.cause);
    return isFirst;
  });
}

function* findings(facts: Facts): Generator<Finding> {
  yield checkCli(facts);
  yield* some(checkSettings(facts));
  yield* checkDiscovery(facts);
  yield* some(checkProxy(facts));
  yield* checkDiffs(facts);
  yield* some(checkHooks(facts));
  yield* some(checkLanguagePlugins(facts));
  for (const editor of facts.editors) {
    if (!isHere(editor, facts.cwd)) continue;
    yield* some(checkLanguageServers(editor));
    yield* some(checkStates(editor));
  }
}

function some<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
