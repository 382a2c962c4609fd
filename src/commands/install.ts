import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { findDistribution, InstallError } from "../package/distribution";
import { installBelow } from "../package/prefix";

const USAGE = "Usage: claude-code-nvim install --prefix DIR\n";

/**
 * `claude-code-nvim install --prefix DIR`: puts the executable, the plugin as a Neovim package, and
 * the man page below DIR, from an unpacked release archive. For packagers and install.sh.
 */
export async function install(args: string[]): Promise<number> {
  const prefix = prefixOf(args);
  if (!prefix) {
    process.stderr.write(`claude-code-nvim: install needs a prefix\n${USAGE}`);
    return 2;
  }
  try {
    const distribution = findDistribution(realpathSync(process.execPath));
    const { executable, plugin, manPage } = await installBelow(resolve(prefix), distribution);
    process.stdout.write(`${executable}\n${plugin}\n${manPage}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof InstallError) && !isSystemError(error)) throw error;
    process.stderr.write(`claude-code-nvim: ${error.message}\n`);
    return 1;
  }
}

/** `--prefix DIR` or `--prefix=DIR`, and nothing else. */
function prefixOf(args: string[]): string | undefined {
  const [first, second, ...rest] = args;
  if (first === "--prefix" && rest.length === 0) return second;
  if (args.length === 1) return /^--prefix=(.+)$/.exec(first ?? "")?.[1];
  return undefined;
}

/** A file that cannot be written, say: its message names the call and the path. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}
