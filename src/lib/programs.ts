import { type Environment, isExecutable } from "./paths";
import { delimiter, IS_WINDOWS, isAbsolute, join, resolve } from "./platform";

export type Lookup = { path: string } | { path: undefined; why: string };

/**
 * Looks a program up in the absolute entries of $PATH. A relative entry could lead to a program of a hostile project.
 * Lua's `on_path()` (programs/) is the same. `why` is for the user.
 */
export function onPath(name: string, env: Environment = process.env): Lookup {
  let why = `\`${name}\` is not on $PATH`;
  // On Windows, npm installs the CLI as claude.cmd.
  const files = IS_WINDOWS ? [`${name}.exe`, `${name}.cmd`] : [name];
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    const path = files.map((file) => join(folder, file)).find(isExecutable);
    if (path && isAbsolute(folder)) return { path };
    if (path) {
      const entry = folder === "" ? "empty entry" : `relative entry \`${folder}\``;
      why =
        `\`${name}\` is not run: only the ${entry} of $PATH leads to it (${resolve(path)}), ` +
        "where a project could put a program of its own";
    }
  }
  return { path: undefined, why };
}

/**
 * The $PATH for a program that looks up others, such as env(1) in the first line of a script. Undefined if no entry is
 * left, since an empty $PATH means the current folder.
 */
export function absoluteEntries(path: string | undefined): string | undefined {
  const folders = (path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.join(delimiter) || undefined;
}
