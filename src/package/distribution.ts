import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "../version";

/** The plugin's files that belong to this executable, in an unpacked archive or a checkout. */
export interface Distribution {
  executable: string;
  /** Folder with lua/, plugin/ and doc/. */
  root: string;
}

/** Something that the person who called can mend; its message is a sentence. */
export class InstallError extends Error {}

/** Finds what lies beside the executable, or, for one in dist/, above it. */
export function findDistribution(executable: string): Distribution {
  const beside = dirname(executable);
  const root = [beside, dirname(beside)].find((folder) => existsSync(contractFile(folder)));
  if (root === undefined) {
    throw new InstallError(
      `the plugin's files are not beside ${executable}: ` +
        "unpack the whole release archive and run the executable in it",
    );
  }
  const [, version] = /version = "(.+?)"/.exec(readFileSync(contractFile(root), "utf8")) ?? [];
  if (version !== VERSION) {
    throw new InstallError(
      `the plugin's files in ${root} are of version ${version}, this executable of ${VERSION}: ` +
        "take both from one archive, or build the executable anew",
    );
  }
  return { executable, root };
}

export function contractFile(root: string): string {
  return join(root, "lua/claude-code/server/contract.lua");
}
