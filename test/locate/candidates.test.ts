import { restoresEnv, SLEEP, temporaryFolder } from "#test";
import { join } from "../../src/lib/platform";
import { candidates } from "../../src/locate/find";
import { Registration } from "../../src/locate/registry";

restoresEnv("XDG_STATE_HOME");

test("lists each Neovim around a folder once: the deepest workspace first, then the newest", () => {
  const [state, workspace] = [temporaryFolder(), temporaryFolder()];
  const [deep, below] = [join(workspace, "a"), join(workspace, "a/b")];
  process.env.XDG_STATE_HOME = state;
  const sleepers = [0, 1, 2, 3].map(() => Bun.spawn(SLEEP));
  try {
    const folders = [[workspace], [workspace], [deep], [join(workspace, "b")]];
    for (const [i, workspaceFolders] of folders.entries()) {
      const { pid } = sleepers[i] as Bun.Subprocess;
      const rest = { port: 100 + i, since: i };
      new Registration({ pid, address: `/${i}`, workspaceFolders, ...rest });
    }
    const found = (env: Record<string, string> = {}) =>
      [...candidates([below, deep], undefined, env)].map(({ address }) => address);
    expect(found()).toEqual(["/2", "/1", "/0"]);
    expect(found({ CLAUDE_CODE_SSE_PORT: "100" })).toEqual(["/0", "/2", "/1"]);
    expect(found({ CLAUDE_CODE_SSE_PORT: "100", NVIM: "/x" })).toEqual(["/x", "/0", "/2", "/1"]);
  } finally {
    for (const sleeper of sleepers) sleeper.kill();
  }
});
