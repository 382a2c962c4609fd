import { eventually, onEachNeovim, TestClient } from "#test";
import { World } from "./state/world";

/* openDiff and the review: the client is asked, writes the file, and its hook records the edit. */
onEachNeovim((session) => {
  let world: World;
  let cli: TestClient;
  beforeEach(async () => {
    await session.reset();
    world = new World(session.neovim.cwd, session.neovim.home);
    cli = await TestClient.open(session.lock, "claude-code");
  });
  afterEach(async () => {
    cli.close();
    await session.neovim.lua('require("claude-code").setup({})');
    world[Symbol.dispose]();
  });

  /** Proposes a text, and answers the diff by a command. */
  async function propose(name: string, text: string, command: string): Promise<string[]> {
    const path = world.path(name);
    const answer = cli.texts("openDiff", {
      old_file_path: path,
      new_file_path: path,
      new_file_contents: text,
      tab_name: name,
    });
    await session.neovim.until("the diff", 'return require("port").diff_shown(...)', path);
    await session.neovim.lua(command);
    return answer;
  }

  const left = async (name: string) => {
    const { files } = await world.list();
    return files.filter(({ path }) => path === world.path(name)).map(({ hunk_count: n }) => n);
  };
  const news = () =>
    session.neovim.lua<number | null>(
      'return (require("claude-code.editor.review").summary() or { counts = {} }).counts.hunks',
    );

  test("keeps an accepted edit as soon as Claude has written it", async () => {
    world.write("a", "1\n2\n3\n");
    const [, text = ""] = await propose("a", "1\nII\n3\n", 'vim.cmd("Claude diff accept")');
    world.claude({ a: text });
    await eventually("the decision", async () => expect(await left("a")).toEqual([]));
  });

  test("keeps an edit that was accepted in part, with the user's own edits", async () => {
    world.write("b", "1\r\n2\r\n3\r\n");
    const [, text = ""] = await propose(
      "b",
      "I\n2\n3\n",
      `vim.cmd("Claude diff accept-hunk")
       vim.api.nvim_buf_set_lines(0, 0, 1, false, { "mine" })
       vim.cmd("Claude diff accept")`,
    );
    expect(text).toBe("mine\n2\n3\n");
    world.claude({ b: text.replaceAll("\n", "\r\n") });
    await eventually("the decision", async () => expect(await left("b")).toEqual([]));
  });

  test("lists another text than the accepted one", async () => {
    world.write("c", "1\n");
    await propose("c", "2\n", 'vim.cmd("Claude diff accept")');
    world.claude({ c: "3\n" });
    await eventually("the hunk", async () => expect(await news()).toBe(1));
    expect(await left("c")).toEqual([1]);
  });
});
