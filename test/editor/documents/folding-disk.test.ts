import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { NEWEST, platformSkip, TestClient, TestNeovim, temporaryFolder } from "#test";
import { join } from "../../../src/lib/platform";
import { Recorded } from "../../review/recorded";

/* A disk without regard to case and composition of names: that of macOS, or of scripts/like-macos. */

const folder = temporaryFolder();
const project = join(folder, "Work");
mkdirSync(join(project, "Src"), { recursive: true });
const folds = existsSync(join(folder, "WORK"));
const NFD = "u\u0308ber.txt";
const FILES = ["Src/Main.lua", NFD];
for (const name of FILES) writeFileSync(join(project, name), "old\n");

/** The path of a file in another spelling. */
const other = (name: string) => join(folder, "WORK", name.normalize("NFC").toUpperCase());

function onFoldingDisk(name: string, body: () => Promise<void>): void {
  test(name, async () => (folds ? body() : platformSkip("each spelling is another file here")));
}

onFoldingDisk("records a file once, whatever its spelling and the CLI's folder", async () => {
  using world = new Recorded(Object.fromEntries(FILES.map((name) => [name, "1\n"])));
  const spelled = (name: string) =>
    world.root.replace(/[^/]+$/, (one) => join(one.toUpperCase(), name));
  for (const [i, name] of [...FILES, ...FILES].entries()) {
    const path = i < 2 ? world.path(name) : spelled(name.normalize("NFC").toUpperCase());
    const call = { cwd: spelled(""), tool_name: "Edit", tool_use_id: `u${i}` };
    const input = { ...call, tool_input: { file_path: path } };
    await world.hook("pre-edit", input);
    world.write(name, `${i}\n`);
    await world.hook("post-tool-use", { ...input, tool_response: { filePath: path } });
  }
  const { files } = await world.list();
  expect(files.map(({ path }) => path).sort()).toEqual(FILES.map(world.path, world).sort());
  expect(world.log).not.toContain("WARN");
});

onFoldingDisk("has one buffer of a file, and writes it where it is", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, cwd: project });
  using client = await TestClient.open(await neovim.lock());
  for (const name of FILES) {
    await client.texts("openFile", { filePath: join(project, name) });
    const buffers = await neovim.lua<number>("return #vim.fn.getbufinfo()");
    await client.texts("openFile", { filePath: other(name) });
    expect(await neovim.lua<number>("return #vim.fn.getbufinfo()")).toBe(buffers);
    const accepted = client.openDiff(other(name), "new\n");
    await neovim.until("the diff", "return require('port').diff_shown()");
    await neovim.lua("require('port').accept()");
    expect(await accepted).toEqual(["FILE_SAVED", "new\n"]);
    expect(readFileSync(join(project, name), "utf8")).toBe("new\n");
    await neovim.until("the buffer", "return vim.fn.getline(1) == 'new'");
  }
  expect(readdirSync(project).sort()).toEqual(["Src", NFD]);
  expect(readdirSync(join(project, "Src"))).toEqual(["Main.lua"]);
});
