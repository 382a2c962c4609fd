import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { print, printError } from "../lib/output";
import { isExecutable } from "../lib/paths";
import { findDistribution } from "../package/distribution";
import { installBelow } from "../package/prefix";
import { parseOptions, usageError } from "./arguments";

const USAGE = "install --prefix DIR";

/**
 * `claude-code-nvim install --prefix DIR`: puts the executable, the plugin as a Neovim package, and
 * the man page below DIR, from an unpacked release archive. For packagers and install.sh.
 */
export async function install(args: string[]): Promise<number> {
  const { prefix } = parseOptions(args, { prefix: { type: "string" } } as const, USAGE);
  if (!prefix) throw usageError("the option --prefix is missing", USAGE);
  const program = realpathSync(process.execPath);
  const root = findDistribution(program);
  const { executable, plugin, manPage } = installBelow(resolve(prefix), program, root);
  print(`${executable}\n${plugin}\n${manPage}\n`);
  // A packager's stage may be on such a file system.
  if (!isExecutable(executable)) {
    printError(
      `the file system of ${prefix} does not run programs (noexec): ` +
        "unless you move what was installed, choose another folder by --prefix\n",
    );
  }
  return 0;
}
