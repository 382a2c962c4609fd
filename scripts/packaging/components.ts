import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../build";

/** A package whose code is in the executable. */
export interface Component {
  name: string;
  version: string;
  /** By its SPDX name. */
  license: string;
  authors: string[];
  /** The text of the license file that the package brings, if it brings one. */
  text?: string;
}

const IN_PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** The files of a package's folder that hold its license, by their usual names. */
const LICENSE_FILE = /^(licen[cs]e|copying)(\.(md|txt))?$/i;

/**
 * The packages that Bun's bundler puts into the executable, by name: what package.json lists and
 * what those bring, without what the build leaves out. `root`: the sources.
 */
export async function bundledComponents(root: string): Promise<Component[]> {
  const result = await bundle(root, { metafile: true });
  const inputs = Object.keys(result.metafile?.inputs ?? {});
  const names = new Set(inputs.map((path) => IN_PACKAGE.exec(path)?.[1] ?? ""));
  names.delete("");
  return [...names].sort().map((name) => component(join(root, "node_modules", name)));
}

function component(folder: string): Component {
  const json = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { name, version, license } = json;
  if (typeof license !== "string") throw new Error(`${name} names no license in its package.json`);
  const file = readdirSync(folder).find((entry) => LICENSE_FILE.test(entry));
  const text = file && readFileSync(join(folder, file), "utf8").trim();
  return { name, version, license, authors: authors(json), ...(text && { text }) };
}

function authors({ author, authors = [] }: { author?: unknown; authors?: unknown[] }): string[] {
  const all = [...(author ? [author] : []), ...authors];
  return all.map((each) => (typeof each === "string" ? each : (each as { name: string }).name));
}
