import { SERVER_NAME } from "../claude/names";
import { message } from "../lib/errors";
import { isExecutable, stablePath } from "../lib/paths";
import { planInstall } from "../setup/plan";
import { projectAround } from "../setup/record";
import type { Facts } from "./facts";
import { error, type Finding, ok, warning } from "./finding";

const REPAIR = "run :Claude setup, or `claude-code-nvim install-hooks`";

/** Is what was set up in the project complete, and does what it starts exist? */
export function checkHooks({ cwd }: Facts): Finding | undefined {
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

/** The changes that another set-up of the project would make; empty if there are none. */
function missingSteps(root: string, answers: boolean): string {
  try {
    const { steps } = planInstall(root, { claudeMd: false, answers, address: false });
    return steps.map(({ what }) => what).join(", ");
  } catch (problem) {
    return `fail: ${message(problem)}`;
  }
}
