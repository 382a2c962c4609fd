import { checkCli } from "./check-cli";
import { checkDiffs } from "./check-diffs";
import { checkDiscovery } from "./check-discovery";
import { checkLanguageServers } from "./check-editor";
import { checkHooks } from "./check-hooks";
import { checkProxy } from "./check-proxy";
import type { Surroundings } from "./facts";
import { type Finding, isFault } from "./finding";
import { covers } from "./locks";

/** All findings, each cause once: the first that sees it says it. */
export function examine(surroundings: Surroundings): Finding[] {
  const seen = new Set<string>();
  return [...findings(surroundings)].filter((finding) => {
    if (!isFault(finding)) return true;
    const fresh = !seen.has(finding.cause);
    seen.add(finding.cause);
    return fresh;
  });
}

function* findings(surroundings: Surroundings): Generator<Finding> {
  yield checkCli(surroundings);
  yield* checkDiscovery(surroundings);
  yield* some(checkProxy(surroundings));
  yield* checkDiffs(surroundings);
  yield* checkHooks(surroundings);
  const { editors, cwd } = surroundings;
  for (const editor of editors) {
    const here = editor.inside || covers(editor.report?.folders ?? [], cwd);
    if (here) yield* some(checkLanguageServers(editor));
  }
}

function some<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
