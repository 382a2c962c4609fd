import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Asset } from "./manifest";
import type { Repository } from "./repository";

export const FORMULA = "claude-code-nvim.rb";

/**
 * Homebrew's formula for a release, from `formula.rb.in`. Throws if the release lacks an archive that the formula
 * needs.
 */
export async function renderFormula(
  repository: Repository,
  assets: Pick<Asset, "target" | "file" | "sha256">[],
): Promise<string> {
  const { description, license, version, url: homepage } = repository;
  const values = new Map(Object.entries({ description, license, homepage }));
  for (const { target, file, sha256 } of assets) {
    values.set(`${target}.url`, `${homepage}/releases/download/v${version}/${file}`);
    values.set(`${target}.sha256`, sha256);
  }
  const template = await readFile(join(import.meta.dir, "formula.rb.in"), "utf8");
  return template.replaceAll(/\{\{(.+?)\}\}/g, (_, key: string) => {
    const value = values.get(key);
    if (value === undefined) throw new Error(`the formula needs ${key}, which the release lacks`);
    return value;
  });
}
