import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Component } from "./components";
import type { Repository } from "./repository";

const LGPL = join(import.meta.dir, "licenses/LGPL-2.0.txt");
const RULE = `\n\n${"-".repeat(78)}\n\n`;

/** For a package that names the MIT license and its authors, and brings no file with the text. */
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

/** The text of THIRD-PARTY-NOTICES: what the executable contains beside the project's own code. */
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
 * The same as a software bill of materials: CycloneDX 1.6 in JSON. The same input gives the same
 * bytes, so it has neither a time nor a serial number.
 */
export function renderBill(repository: Repository, components: Component[], bun: string): string {
  const { name, version, license, url } = repository;
  const library = (each: Pick<Component, "name" | "version" | "license">) => ({
    type: "library",
    "bom-ref": `pkg:npm/${each.name.replace("@", "%40")}@${each.version}`,
    name: each.name,
    version: each.version,
    licenses: [{ license: { id: each.license } }],
    purl: `pkg:npm/${each.name.replace("@", "%40")}@${each.version}`,
  });
  const own = { type: "application", "bom-ref": name, name, version };
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        ...own,
        licenses: [{ license: { id: license } }],
        externalReferences: [{ type: "vcs", url }],
      },
    },
    components: [
      { ...library({ name: "bun", version: bun, license: "MIT" }), type: "platform" },
      ...components.map(library),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}
