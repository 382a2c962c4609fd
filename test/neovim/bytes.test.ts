import { pathToFileURL } from "node:url";
import { eventually, NEOVIMS, needs, onEachNeovim, TestNeovim } from "#test";
import { NeovimRpc } from "../../src/neovim/rpc";

/*
 * Neovim's strings are bytes. Bytes that are not UTF-8 arrive as U+FFFD, and their neighbours are kept.
 */
const LONG = "and so on, ".repeat(30);

onEachNeovim((session) => {
  beforeEach(() => session.reset());
  const ask = <T = unknown>(name: string, params?: object) =>
    session.client.request<T>(name, params);

  const messages: [what: string, lua: string, text: string][] = [
    ["in Latin-1", `"caf\\233 is not defined"`, "caf\uFFFD is not defined"],
    ["cut off in a character", `"cut off \\230\\151"`, "cut off \uFFFD"],
    ["cut off, and long", `"cut off \\230\\151" .. "${LONG}"`, `cut off \uFFFD${LONG}`],
    ["of lone continuations", `"a\\128\\191b"`, "a\uFFFD\uFFFDb"],
    ["of bytes that UTF-8 does not have", `"\\254\\255"`, "\uFFFD\uFFFD"],
    ["that begins with U+FEFF", `"\\239\\187\\191x"`, "\uFEFFx"],
    ["in UTF-8", `"日本😀é"`, "日本😀é"],
    ["that is empty", `""`, ""],
  ];
  test.each(messages)("sends a diagnostic's message %s", async (_, lua, text) => {
    const path = session.write("a.txt", "one\ntwo\n");
    await session.edit(path);
    await session.neovim.lua(`vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
      { lnum = 0, col = 0, severity = 1, message = ${lua}, source = "lint\\233", code = "E\\233" },
      { lnum = 1, col = 0, severity = 1, message = "the next one", source = "lint" },
    })`);
    await session.known();
    const uri = pathToFileURL(path).href;
    const [file] = await session.client.json<{ diagnostics: object[] }[]>("getDiagnostics", {
      uri,
    });
    expect(file?.diagnostics).toMatchObject([
      { message: text, source: "lint\uFFFD", code: "E\uFFFD" },
      { message: "the next one", source: "lint" },
    ]);
  });

  needs("any bytes in a name")(
    "sends a file name in Latin-1 with U+FFFD, and understands that name",
    async () => {
      const filePath = session.path("caf\uFFFD.txt");
      const uri = pathToFileURL(filePath).href;
      await session.neovim.lua(`
      local name = vim.fn.getcwd() .. "/caf\\233.txt"
      vim.fn.writefile({ "x" }, name)
      vim.cmd.edit(vim.fn.fnameescape(name))
      vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
        { lnum = 0, col = 0, message = "wrong" },
      })`);
      await session.known();
      expect(await session.client.json("getOpenEditors")).toMatchObject({
        tabs: [{ uri, label: "caf\uFFFD.txt", languageId: "plaintext" }],
      });
      expect(await session.client.json("getCurrentSelection")).toMatchObject({ filePath });
      expect(await ask("editor/position")).toMatchObject({ buffer: "caf\uFFFD.txt", uri });
      for (const asked of [{}, { uri }]) {
        expect(await session.client.json("getDiagnostics", asked)).toMatchObject([
          { uri, diagnostics: [{ message: "wrong" }] },
        ]);
      }
      await eventually("the selection", () =>
        expect(
          session.client.received.filter(({ method }) => method === "selection_changed").at(-1),
        ).toMatchObject({ params: { filePath } }),
      );
      expect(await session.client.json("checkDocumentDirty", { filePath })).toMatchObject({
        success: true,
        isDirty: false,
      });
      expect(await ask("editor/buffers")).toMatchObject({ total: 1, buffers: [{ uri }] });
    },
  );

  needs("any bytes in a name")("sends a workspace folder in Latin-1 with U+FFFD", async () => {
    await session.neovim.lua(`
      local folder = vim.fn.getcwd() .. "/d\\233j\\224 vu"
      vim.fn.mkdir(folder)
      vim.cmd.cd(vim.fn.fnameescape(folder))`);
    const path = session.path("d\uFFFDj\uFFFD vu");
    const sent = await session.client.json("getWorkspaceFolders");
    await session.neovim.command("cd ..");
    expect(sent).toMatchObject({
      folders: [{ path, name: "d\uFFFDj\uFFFD vu", uri: pathToFileURL(path).href }],
    });
  });

  test("sends text in Latin-1 of a binary buffer with U+FFFD", async () => {
    const text = (end: string) => Buffer.from(`caf\xe9 au lait, d\xe9j\xe0${end}`, "latin1");
    const seen = "caf\uFFFD au lait, d\uFFFDj\uFFFD";
    const path = session.write("binary.txt", Buffer.concat([text("\n"), text(`${LONG}\n`)]));
    await session.neovim.command(`edit ++bin ++ff=dos ${path}`);
    await session.neovim.type("ggV");
    expect(await session.client.json("getCurrentSelection")).toMatchObject({
      text: seen,
      selection: { end: { line: 0, character: seen.length } },
    });
    expect(await ask("editor/selection")).toMatchObject({ text: seen });
    expect(await ask("editor/context")).toMatchObject({
      current_line_text: seen,
      context_after: `${seen}${LONG}`,
    });
    expect(await ask("resources/read", { uri: pathToFileURL(path).href })).toMatchObject({
      contents: [{ text: `${seen}\n${seen}${LONG}\n` }],
    });
  });

  test.each([
    ["short", "x\n"],
    ["long", `${LONG}\n`],
  ])("keeps the byte order mark of a %s text", async (_, rest) => {
    const path = session.write("bom.txt", `\uFEFF${rest}`);
    await session.edit(path);
    expect(await ask("resources/read", { uri: pathToFileURL(path).href })).toMatchObject({
      contents: [{ text: `\uFEFF${rest}` }],
    });
  });
});

const LONG_KEY = "k".repeat(1_000);

test.each(NEOVIMS)("reads a map of $name whose keys are any text", async (version) => {
  await using neovim = await TestNeovim.start({ version, setup: false });
  const rpc = await NeovimRpc.connect(await neovim.lua<string>("return vim.v.servername"));
  const map = `return { __proto__ = { a = 1 }, ["caf\\233"] = 2, ["x\\230\\151"] = 3, [""] = 4, Aa = 5, BB = 6, ${LONG_KEY} = 7 }`;
  // The second time by what is known of the first; "Aa" and "BB" have the same hash.
  for (const _ of [1, 2]) {
    expect(await rpc.request("nvim_exec_lua", [map, []])).toEqual({
      "(__proto__)": { a: 1 },
      "caf\uFFFD": 2,
      "x\uFFFD": 3,
      "": 4,
      Aa: 5,
      BB: 6,
      [LONG_KEY]: 7,
    });
  }
  expect(await rpc.request("nvim_eval", ["1"])).toBe(1);
  rpc.close();
});
