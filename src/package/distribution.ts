import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../lib/errors";
import { VERSION } from "../lib/version";

/** The plugin's files that belong to this executable, in an unpacked archive or a checkout. */
export interface Distribution {
  executable: string;
  /** Folder with lua/, plugin/ and doc/. */
  root: string;
}

/** Finds what lies beside the executable, or, for one in dist/, above it. Throws UserError. */
export function findDistribution(executable: string): Distribution {
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
  return { executable, root };
}

export function contractFile(root: string): string {
  return join(root, "lua/claude-code/install/contract.lua");
}
