import { join } from "node:path";

/** What package.json says about the project, the one place of its owner and name. */
export interface Repository {
  owner: string;
  name: string;
  version: string;
  description: string;
  license: string;
  /** Of its page, without a slash at the end. */
  url: string;
}

export async function readRepository(root: string): Promise<Repository> {
  const json = await Bun.file(join(root, "package.json")).json();
  const [, owner, name] = /^github:([\w.-]+)\/([\w.-]+)$/.exec(json.repository) ?? [];
  if (!owner || !name) throw new Error('package.json has no "repository": "github:OWNER/NAME"');
  const { version, description, license } = json;
  return { owner, name, version, description, license, url: `https://github.com/${owner}/${name}` };
}
