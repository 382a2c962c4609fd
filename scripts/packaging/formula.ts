import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Asset } from "./manifest";
import type { Repository } from "./repository";

const TEMPLATE = join(import.meta.dir, "claude-code-nvim.rb.in");

/** The Homebrew formula of a release. Throws when the release lacks one of the formula's targets. */
export async function renderFormula(repository: Repository, assets: Asset[]): Promise<string> {
  const { description, license, version, url: homepage } = repository;
  const values = new Map(Object.entries({ description, license, version, homepage }));
  for (const { target, file, sha256 } of assets) {
    values.set(`${target}.url`, `${homepage}/releases/download/v${version}/${file}`);
    values.set(`${target}.sha256`, sha256);
  }
  const template = await readFile(TEMPLATE, "utf8");
  return template.replaceAll(/\{\{(.+?)\}\}/g, (_, key: string) => {
    const value = values.get(key);
    if (value === undefined) throw new Error(`the formula needs ${key}, which the release lacks`);
    return value;
  });
}

/** Whether the targets built suffice for a formula. */
export function coversFormula(assets: Asset[]): boolean {
  const needed = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];
  return needed.every((target) => assets.some((asset) => asset.target === target));
}
