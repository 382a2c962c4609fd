import type { Facts } from "./facts";
import { error, type Finding, ok, warning } from "./finding";

/** What the ends of relays say, and what helps. */
const REMEDIES: [cause: RegExp, remedy: string][] = [
  [/contract/, "install the same version of claude-code-nvim on both sides"],
  [
    /on \$PATH|is not run/,
    "install that program, or name it by its absolute path in remotes.NAME.relay",
  ],
  [
    /stdout is not clean|only printed/,
    "let no file of the shell there print anything, and give `relay` no terminal",
  ],
  [
    /code 12[67]|not found|[Nn]o such file/,
    "install claude-code-nvim there, with `install.sh` or by copying the executable",
  ],
  [/[Nn]o such container|not running/, "start the container"],
  [/does not answer|silent/, "run its command with `--check` in the place of `--stdio`"],
  [/path_mappings/, "name in path_mappings where the folder is on both sides"],
  [/lock file/, "mount a folder there that can be written"],
];
const OTHER = "run its command with `--check` in the place of `--stdio`, and see :Claude log";

/** Is there a remote whose relay does not run, or whose CLIs miss something? */
export function* checkRemotes({ editors }: Facts): Generator<Finding> {
  for (const { report } of editors) {
    for (const { name, state, cause, problem, port } of report?.remotes ?? []) {
      const why = cause ?? problem;
      const remedy = REMEDIES.find(([known]) => known.test(why ?? ""))?.[1] ?? OTHER;
      if (state === "down") yield error("remote-down", `the remote ${name}: ${why}`, remedy);
      else if (why) yield warning("remote-problem", `the remote ${name}: ${why}`, remedy);
      else if (state === "up") yield ok(`the relay of the remote ${name} runs, on port ${port}`);
    }
  }
}
