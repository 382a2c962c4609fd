import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "./repository";

export const INSTALLER = join(import.meta.dir, "../../install.sh");

/** One archive of a release. */
export interface Asset {
  target: string;
  file: string;
  /** In hexadecimal. */
  sha256: string;
  /** In bytes. */
  size: number;
}

/**
 * The text of lua/claude-code/install/manifest.lua, which says which executables the plugin accepts, and from where.
 */
export function renderManifest(repository: Repository, contract: number, assets: Asset[]): string {
  const targets = assets.map(
    ({ target, file, sha256, size }) =>
      `    ["${target}"] = {\n` +
      `      file = "${file}",\n` +
      `      sha256 = "${sha256}",\n` +
      `      size = ${size},\n` +
      "    },\n",
  );
  return `--- The release for this version of the plugin, written by scripts/release.
---@class claude-code.Manifest
---@field version string
---@field contract integer as in claude-code.contract
---@field releases string URL; archives are at releases/vVERSION/FILE
---@field targets table<string, claude-code.Archive> by target; empty before the release
---@class claude-code.Archive
---@field file string
---@field sha256 string in hexadecimal
---@field size integer in bytes
return {
  version = "${repository.version}",
  contract = ${contract},
  releases = "${repository.url}/releases/download",
  targets = {${targets.length > 0 ? `\n${targets.join("")}  ` : ""}},
}
`;
}

/** The assets that a manifest written by `renderManifest` pins. */
export async function readManifest(path: string): Promise<Asset[]> {
  const text = await readFile(path, "utf8");
  const entry = /\["([\w-]+)"\] = \{\s+file = "(.+)",\s+sha256 = "(\w{64})",\s+size = (\d+),/g;
  return [...text.matchAll(entry)].map(([, target = "", file = "", sha256 = "", size]) => {
    return { target, file, sha256, size: Number(size) };
  });
}

/** The text of SHA256SUMS, for `sha256sum --check`. */
export function renderSums(assets: Pick<Asset, "file" | "sha256">[]): string {
  return assets.map(({ sha256, file }) => `${sha256}  ${file}\n`).join("");
}

/** The install.sh of a release: `script` is that of this repository, and gets the release's version and sums. */
export function renderInstaller(script: string, version: string, assets: Asset[]): string {
  const values = { own_version: version, own_sums: renderSums(assets).trim() };
  return Object.entries(values).reduce((text, [name, value]) => {
    const empty = `\n${name}=''\n`;
    if (!text.includes(empty)) throw new Error(`install.sh has no line ${name}=''`);
    return text.replace(empty, `\n${name}='${value}'\n`);
  }, script);
}
