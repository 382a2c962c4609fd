import { join } from "node:path";
import { type Asset, renderSums } from "./manifest";

export const INSTALLER = join(import.meta.dir, "../../install.sh");

/** A release's install.sh: `script`, this repository's, with the release's version and sums. */
export function renderInstaller(script: string, version: string, assets: Asset[]): string {
  const values = { own_version: version, own_sums: renderSums(assets).trim() };
  return Object.entries(values).reduce((text, [name, value]) => {
    const empty = `\n${name}=''\n`;
    if (!text.includes(empty)) throw new Error(`install.sh has no line ${name}=''`);
    return text.replace(empty, `\n${name}='${value}'\n`);
  }, script);
}
