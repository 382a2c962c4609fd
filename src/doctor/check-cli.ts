import type { Facts } from "./facts";
import { error, type Finding, note, ok } from "./finding";

/** Versions before it lack some of what we rely on (`--settings` with hooks, the token). */
const OLDEST = "2.0.0";
const INSTALL = "run `npm install -g @anthropic-ai/claude-code`";

export function checkCli({ cli, cliVersion: version, editors }: Facts): Finding {
  if (cli.path === undefined && editors.some(({ report }) => report?.in_remote))
    return note("no Claude CLI is here: terminal.remote says where it runs");
  if (cli.path === undefined) return error("cli-missing", `the Claude CLI ${cli.why}`, INSTALL);
  const { path } = cli;
  if (!version) {
    return error("cli-missing", `the Claude CLI ${path} does not run`, INSTALL);
  }
  if (Bun.semver.order(version, OLDEST) < 0) {
    const what = `the Claude CLI ${path} has version ${version}; it must be ${OLDEST} or newer`;
    return error("cli-outdated", what, "run `claude update`");
  }
  return ok(`Claude CLI ${version} (${path})`);
}
