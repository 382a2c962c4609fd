import { join } from "node:path";

/** The project in package.json, the only place with its owner and name. */
export interface Repository {
  owner: string;
  name: string;
  version: string;
  description: string;
  license: string;
  /** The version of Bun that compiles the executable and is part of it. */
  bun: string;
  /** The address of the project's page, without a slash at the end. */
  url: string;
}

export async function readRepository(root: string): Promise<Repository> {
  const json = await Bun.file(join(root, "package.json")).json();
  const [, owner, name] = /^github:([\w.-]+)\/([\w.-]+)$/.exec(json.repository) ?? [];
  if (!owner || !name) throw new Error('package.json has no "repository": "github:OWNER/NAME"');
  const { version, description, license, packageManager } = json;
  const bun = packageManager.replace(/^bun@/, "");
  const url = `https://github.com/${owner}/${name}`;
  return { owner, name, version, description, license, bun, url };
}
