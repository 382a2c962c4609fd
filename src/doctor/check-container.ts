import { statSync } from "node:fs";
import { counted } from "../lib/counted";
import type { Facts } from "./facts";
import { error, type Finding } from "./finding";

const HELP = "see :help claude-code-docker";
/** With it a CLI calls the machine of its editor by another name. */
const HOST_OVERRIDE = "CLAUDE_CODE_IDE_HOST_OVERRIDE";
/** By these, with any value or this one, the CLI takes its terminal for another editor's (2.1.330). */
const MARKS: Readonly<Record<string, string | undefined>> = {
  TERM_PROGRAM: "vscode",
  TERMINAL_EMULATOR: "JetBrains-JediTerm",
  CURSOR_TRACE_ID: undefined,
  FORCE_CODE_TERMINAL: undefined,
};

/** Is a CLI elsewhere, or in another editor's terminal, kept from a Neovim? */
export function* checkContainer(facts: Facts): Generator<Finding> {
  yield* foreignTerminal(facts);
  yield* refusedHosts(facts);
  yield* containersOfLinux(facts);
}

export function* foreignTerminal({ env, editors }: Facts): Generator<Finding> {
  const marks = Object.entries(MARKS).filter(([name, value]) =>
    value === undefined ? env[name] : env[name] === value,
  );
  const [[name] = []] = marks;
  // In Neovim's own terminals the CLI knows the port.
  if (name === undefined || editors.some(({ inside }) => inside)) return;
  const what = `${name} is ${env[name]}: the CLI takes this terminal for another editor's, and connects to that one alone`;
  const unset = marks.map(([mark]) => `-u ${mark}`).join(" ");
  yield error("terminal-of-another-editor", what, `run \`env ${unset} claude\``);
}

/** Names by which CLIs with the token of a Neovim came in vain. */
function* refusedHosts({ editors }: Facts): Generator<Finding> {
  for (const { report } of editors) {
    for (const { name, count } of report?.refused_hosts ?? []) {
      const what = `Neovim ${report?.pid} refused a CLI that connected to ${name}, ${counted(count, "time")}`;
      const remedy = report?.allowed_hosts.includes(name)
        ? "run :Claude stop and :Claude start there: allowed_hosts names it by now"
        : `add allowed_hosts = { "${name}" } to its setup() (${HELP})`;
      yield error("host-refused", what, remedy);
    }
  }
}

/** What they connect to is a bridge, where Neovim does not listen: all containers could come. */
function* containersOfLinux({ running, cwd }: Facts): Generator<Finding> {
  const here = around(cwd);
  const cli = running.find(({ env, isElsewhere, pid }) => {
    if (!env[HOST_OVERRIDE] || !isElsewhere) return false;
    const there = around(`/proc/${pid}/cwd`);
    return there.includes(here[0] ?? "") || here.includes(there[0] ?? "");
  });
  if (!cli) return;
  const what = `the CLI ${cli.pid} runs in a container of this machine itself: ${cli.env[HOST_OVERRIDE]} leads to the container's network, and Neovim listens on 127.0.0.1 alone`;
  yield error("container-of-linux", what, `start Neovim in the container, too (${HELP})`);
}

/** Which folder this is, and which ones are around it: in a container they have other paths. */
function around(folder: string): string[] {
  const ids: string[] = [];
  try {
    for (let at = folder; ; at += "/..") {
      const { dev, ino } = statSync(at);
      const id = `${dev}:${ino}`;
      if (id === ids.at(-1)) return ids;
      ids.push(id);
    }
  } catch {
    return ids; // The process has ended, or belongs to another user.
  }
}
