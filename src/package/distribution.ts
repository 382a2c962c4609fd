import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../lib/errors";
import { VERSION } from "../lib/version";

/**
 * The folder with lua/, plugin/ and doc/ that belongs to this executable, in an unpacked archive or a
 * checkout: it lies beside the executable, or, for one in dist/, above it. Throws UserError.
 */
export function findDistribution(executable: string): string {
  const beside = dirname(executable);
  const root = [beside, dirname(beside)].find((folder) => existsSync(contractFile(folder)));
  if (root === undefined) {
    throw new UserError(
      `the plugin's files are not beside ${executable}: ` +
        "unpack the whole release archive and run the executable in it",
    );
  }
  const [, version] = /version = "(.+?)"/.exec(readFileSync(contractFile(root), "utf8")) ?? [];
  if (version !== VERSION) {
    throw new UserError(
      `the plugin's files in ${root} have version ${version}, this executable has ${VERSION}: ` +
        "take both from one archive, or build the executable again",
    );
  }
  return root;
}

export function contractFile(root: string): string {
  return join(root, "lua/claude-code/install/contract.lua");
}
