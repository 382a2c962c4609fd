import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Asset } from "./manifest";
import type { Repository } from "./repository";

const TEMPLATES = join(import.meta.dir, "channels");

/** The files by which others distribute a release, each a template in channels/. */
export const CHANNELS = {
  homebrew: "claude-code-nvim.rb",
  aur: "PKGBUILD",
  scoop: "scoop.json",
  aqua: "aqua.yaml",
  winget: "winget.yaml",
} as const;

export interface Package extends Pick<Asset, "target" | "file" | "sha256"> {
  /** Windows' zip files, which only winget needs, beside the archives of the same target. */
  zip?: boolean;
}

/**
 * A channel's file for a release: `{{key}}` is replaced, `{{=text=}}` is `{{text}}`. Throws when the
 * release lacks a target that the channel needs.
 */
export async function renderChannel(
  file: string,
  repository: Repository,
  packages: Package[],
): Promise<string> {
  const values = channelValues(repository, packages);
  const template = await readFile(join(TEMPLATES, `${file}.in`), "utf8");
  return template.replaceAll(/\{\{(=?)(.+?)=?\}\}/g, (_, literal: string, key: string) => {
    if (literal) return `{{${key}}}`;
    const value = values.get(key);
    if (value === undefined) throw new Error(`${file} needs ${key}, which the release lacks`);
    return value;
  });
}

function channelValues(repository: Repository, packages: Package[]): Map<string, string> {
  const { owner, name, description, license, version, url: homepage } = repository;
  const values = new Map(Object.entries({ owner, name, description, license, version, homepage }));
  // Arch forbids hyphens in versions.
  values.set("archVersion", version.replace("-", "_"));
  for (const { target, file, sha256, zip } of packages) {
    const key = zip ? `${target}.zip` : target;
    values.set(`${key}.url`, `${homepage}/releases/download/v${version}/${file}`);
    values.set(`${key}.sha256`, sha256);
  }
  return values;
}
