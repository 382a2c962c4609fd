import { eventually, onEachNeovim, perTest, TestClient } from "#test";
import { World } from "./state/world";

/* openDiff and the review: the client gets the user's answer, writes the file, and its hook records the edit. */
onEachNeovim((session) => {
  const world = perTest(() => new World(session.neovim.cwd, session.neovim.home));
  const cli = perTest(() => TestClient.open(session.lock, "claude-code"));
  beforeEach(() => session.reset());

  /** Proposes a text, and answers the diff with commands; returns the accepted text. */
  async function accepted(name: string, text: string, ...commands: string[]): Promise<string> {
    const answer = cli.openDiff(world.path(name), text, name);
    const shown = 'return require("port").diff_shown(...)';
    await session.neovim.until("the diff", shown, world.path(name));
    for (const command of commands) await session.neovim.command(command);
    return (await answer)[1] as string;
  }

  const isDecided = (name: string) =>
    eventually("the decision", async () => {
      const { files } = await world.list();
      expect(files.map(({ path }) => path)).not.toContain(world.path(name));
    });

  test("keeps an accepted edit as soon as Claude has written it", async () => {
    world.write("a", "1\n2\n3\n");
    world.claude({ a: await accepted("a", "1\nII\n3\n", "Claude diff accept") });
    await isDecided("a");
  });

  test("keeps an edit that was accepted in part, with the user's own edits", async () => {
    world.write("b", "1\r\n2\r\n3\r\n");
    const commands = ["Claude diff accept-hunk", "call setline(1, 'mine')", "Claude diff accept"];
    const text = await accepted("b", "I\n2\n3\n", ...commands);
    expect(text).toBe("mine\n2\n3\n");
    world.claude({ b: text.replaceAll("\n", "\r\n") });
    await isDecided("b");
  });

  test("lists a text that differs from the accepted one", async () => {
    world.write("c", "1\n");
    await accepted("c", "2\n", "Claude diff accept");
    world.claude({ c: "3\n" });
    const hunks = `return (require("claude-code.editor.review").summary() or { counts = {} }).counts.hunks`;
    await session.neovim.until("the hunk", `${hunks} == 1`);
    expect((await world.list()).files.map(({ path }) => path)).toEqual([world.path("c")]);
  });
});
