import { dirname, join } from "node:path";
import { SERVER_NAME } from "../claude/names";
import { projectFolder } from "../claude/project";
import { message } from "../lib/errors";
import { isExecutable, stablePath } from "../lib/paths";
import { planInstall } from "../setup/plan";
import { projectAround } from "../setup/record";
import type { Facts } from "./facts";
import { error, type Finding, ok, warning } from "./finding";

const REPAIR = "run :Claude setup, or `claude-code-nvim install-hooks`";

/** Do hooks run at all; is what was set up in the project complete, and does what it starts exist? */
export function checkHooks(facts: Facts): Finding | undefined {
  return disabled(facts) ?? installed(facts.cwd);
}

/**
 * It holds for the hooks that the plugin passes to its CLIs, too (lua/claude-code/claude/hooks.lua asks
 * the same). The folder's settings and those of the repository's top count each for themselves.
 */
function disabled({ cwd, settings }: Facts): Finding | undefined {
  const [own, top] = [join(cwd, ".claude"), join(projectFolder(cwd), ".claude")];
  const strongest = (except?: string) =>
    settings.find(
      ({ path, content }) =>
        dirname(path) !== except && typeof content.disableAllHooks === "boolean",
    );
  const found = own === top ? [strongest()] : [strongest(top), strongest(own)];
  const file = found.find((settings) => settings?.content.disableAllHooks);
  if (!file) return undefined;
  return warning(
    "hooks-disabled",
    `disableAllHooks is true in ${file.path}: no hook runs, so nothing records Claude's changes for the review, ` +
      "and Claude may leave problems in files that it edited",
    "remove it there",
  );
}

function installed(cwd: string): Finding | undefined {
  const root = projectAround(cwd);
  if (!root) return undefined;
  const [missing, withAnswers] = [false, true].map((answers) => missingSteps(root, answers));
  if (missing && withAnswers) {
    const what = `the set-up of ${root} is incomplete, it would ${missing}`;
    return warning("hooks-half-installed", what, REPAIR);
  }
  if (!isExecutable(stablePath())) {
    const what = `the hooks of ${root} start ${stablePath()}, which is not an executable`;
    return error("hooks-broken", what, REPAIR);
  }
  return ok(`hooks and the MCP server ${SERVER_NAME} are set up in ${root}`);
}

/** What setting the project up again would do; empty if all is there. */
function missingSteps(root: string, answers: boolean): string {
  try {
    const { steps } = planInstall(root, { claudeMd: false, answers, address: false });
    return steps.map(({ what }) => what).join(", ");
  } catch (problem) {
    return `fail: ${message(problem)}`;
  }
}
