import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../build";

/** A package whose code is in the executable. */
interface Component {
  name: string;
  version: string;
  /** Its SPDX name. */
  license: string;
  authors: string[];
  /** The text of the package's license file, if it has one. */
  text?: string;
}

const IN_PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//;
/** The usual names of the files with a package's license. */
const LICENSE_FILE = /^(licen[cs]e|copying)(\.(md|txt))?$/i;

const LGPL = join(import.meta.dir, "licenses/LGPL-2.0.txt");
const RULE = `\n\n${"-".repeat(78)}\n\n`;

/** For a package under the MIT license that has no file with its text. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software
and associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** The text of THIRD-PARTY-NOTICES, about the code of others in the executable. */
export function renderNotices(components: Component[], bun: string): string {
  const lgpl = readFileSync(LGPL, "utf8").trim();
  const head = `claude-code-nvim contains the software below. Each part stays under its own license.`;
  const parts = [runtime(bun), ...components.map(notice), `GNU LGPL, version 2\n\n${lgpl}`];
  return `${[head, ...parts].join(RULE)}\n`;
}

function runtime(bun: string): string {
  return `Bun ${bun}, the runtime

MIT License. Copyright Oven and Bun's contributors.

${MIT}

Bun links JavaScriptCore and other parts of WebKit statically, under the GNU LGPL, version 2, whose
text is at the end of this file. Their source, and how to link Bun with another version of them, are
in https://github.com/oven-sh/bun and https://github.com/oven-sh/WebKit, at the tag bun-v${bun}.
The file LICENSE.md there lists every other library that Bun links, with its license.`;
}

function notice({ name, version, license, authors, text }: Component): string {
  return `${name} ${version} (${license})\n\n${text ?? standardText(name, license, authors)}`;
}

function standardText(name: string, license: string, authors: string[]): string {
  if (license !== "MIT" || authors.length === 0) {
    throw new Error(`${name} brings no license text: add one for ${license} to notices.ts`);
  }
  return `Copyright ${authors.join(", ")} and contributors\n\n${MIT}`;
}

/**
 * The packages in the executable: those in package.json and their dependencies, without those that the build leaves
 * out. `root` is the folder of the sources.
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
