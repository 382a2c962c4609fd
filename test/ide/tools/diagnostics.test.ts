import { pathToFileURL } from "node:url";
import { lacks, needs, nightly, onEachNeovim, TestClient } from "#test";

interface FileDiagnostics {
  uri: string;
  diagnostics: {
    message: string;
    severity: string;
    range: { start: Place; end: Place };
    source?: string;
    code?: string;
  }[];
}

interface Place {
  line: number;
  character: number;
}

onEachNeovim((session) => {
  beforeEach(() => session.reset());

  const setDiagnostics = async (items: object[]) => {
    await session.neovim.lua(
      'vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, (...))',
      items.map((item) => ({ lnum: 0, col: 0, message: "m", severity: 1, ...item })),
    );
    await session.known();
  };
  const ask = (args: Record<string, unknown> = {}) =>
    session.client.json<FileDiagnostics[]>("getDiagnostics", args);

  describe("getDiagnostics", () => {
    test("answers for one file: every severity, full ranges, code as a string, source", async () => {
      const path = await session.open("d e#1.txt", "one two\nthree\n");
      await setDiagnostics([
        { col: 4, end_lnum: 0, end_col: 7, message: "an error", source: "ls", code: 2304 },
        { severity: 2, lnum: 1, col: 0, end_lnum: 1, end_col: 5, message: "a warning", code: "W1" },
        { severity: 3, lnum: 1, col: 0, message: "an information" },
        { severity: 4, lnum: 0, col: 0, message: "a hint" },
      ]);
      const uri = pathToFileURL(path).href.replaceAll("#", "%23");
      const [file] = await ask({ uri });
      expect(file?.uri).toBe(uri);
      const shown = { message: "an error", severity: "Error", range: range(0, 4, 0, 7) };
      expect(file?.diagnostics).toEqual([
        { ...shown, source: "ls", code: "2304" },
        { message: "a warning", severity: "Warning", range: range(1, 0, 1, 5), code: "W1" },
        { message: "an information", severity: "Information", range: range(1, 0, 1, 0) },
        { message: "a hint", severity: "Hint", range: range(0, 0, 0, 0) },
      ]);
    });

    test("counts columns in UTF-16 code units, which end with their line and text", async () => {
      const path = await session.open("wide.txt", "日本😀x\n");
      const bytes = (text: string) => Buffer.byteLength(text);
      await setDiagnostics([
        { col: bytes("日本😀"), end_lnum: 0, end_col: bytes("日本😀x") },
        { col: 500, end_lnum: 0, end_col: 600 },
        { lnum: 99, col: 7, end_lnum: 120, end_col: 3 },
      ]);
      const [file] = await ask({ uri: `file://${path}` });
      expect(file?.diagnostics.map((one) => one.range)).toEqual([
        range(0, 4, 0, 5),
        range(0, 5, 0, 5),
        range(0, 5, 0, 5),
      ]);
    });

    test("answers an empty list for a file without any, not open, or missing", async () => {
      const clean = await session.open("clean.txt", "x\n");
      for (const path of [clean, session.write("closed.txt", "x\n"), session.path("none.txt")]) {
        expect(await ask({ uri: `file://${path}` })).toEqual([
          { uri: pathToFileURL(path).href, diagnostics: [] },
        ]);
      }
    });

    test("answers for all files, without cleared ones", async () => {
      const first = session.write("first.txt", "x\n");
      const second = session.write("second.txt", "x\n");
      await session.edit(first);
      await setDiagnostics([{ message: "in the first" }]);
      await session.edit(second);
      await setDiagnostics([{ message: "in the second" }]);
      expect((await ask()).map(({ uri }) => uri)).toEqual([raw(first), raw(second)]);
      await setDiagnostics([]);
      expect((await ask()).map(({ uri }) => uri)).toEqual([raw(first)]);
    });

    needs("symlinks")(
      "answers the CLI with raw URIs, in its own spelling of a symlinked folder",
      async () => {
        using cli = await TestClient.open(session.lock, "claude-code");
        const path = session.write("räl dir/a b.txt", "x\n");
        session.link(`sym-${session.neovim.process.pid}`, session.path("räl dir"));
        await session.edit(path);
        await setDiagnostics([{ message: "found" }]);
        const spelled = session.path(`sym-${session.neovim.process.pid}/a b.txt`);
        const uri = `file://${spelled}`;
        const found = [{ uri, diagnostics: [expect.objectContaining({ message: "found" })] }];
        expect(await cli.json("getDiagnostics", { uri })).toEqual(found);
        expect(await cli.json("getDiagnostics")).toEqual(found);
      },
    );

    test("makes old problems of a file that was not open look old to the CLI", async () => {
      using cli = await TestClient.open(session.lock, "claude-code");
      const path = session.write("unseen.txt", "x\n");
      const uri = raw(path);
      expect(await cli.json("getDiagnostics", { uri })).toEqual([{ uri, diagnostics: [] }]);
      await session.edit(path);
      await setDiagnostics([{ message: "was there before" }]);
      expect(await cli.json<FileDiagnostics[]>("getDiagnostics")).toEqual([]);
      const [now] = await cli.json<FileDiagnostics[]>("getDiagnostics", { uri });
      expect(now?.diagnostics).toHaveLength(1);
      expect(await cli.json<FileDiagnostics[]>("getDiagnostics")).toHaveLength(1);
    });

    nightly.test("gives 10,000 of all, errors first, and all of one file", async () => {
      const path = await session.open("many.txt", "x\n".repeat(12_000));
      await session.neovim.lua(`
        local items = {}
        for i = 1, 12000 do
          items[i] = { lnum = i - 1, col = 0, message = "m" .. i, severity = i > 11000 and 1 or 4 }
        end
        vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, items)`);
      await session.known();
      const answer = await session.client.call("getDiagnostics");
      expect(answer._meta).toMatchObject({ truncated: true, total: 12_000, returned: 10_000 });
      const [file] = JSON.parse(answer.content[0]?.text ?? "") as FileDiagnostics[];
      expect(file?.diagnostics).toHaveLength(10_000);
      expect(file?.diagnostics.filter(({ severity }) => severity === "Error")).toHaveLength(1_000);
      const [whole] = await ask({ uri: `file://${path}` });
      expect(whole?.diagnostics).toHaveLength(12_000);
    });

    test.each([
      ["NUL", "/tmp/a%00b", "/tmp/a\0b"],
      ["a line break", "/tmp/a%0Ab", "/tmp/a\nb"],
      ...(lacks("FIFOs") ? [] : [["a device", "/dev/tty", "/dev/tty"] as const]),
    ] as const)("refuses %s, also for the CLI", async (_, path, meant) => {
      using cli = await TestClient.open(session.lock, "claude-code");
      for (const client of [session.client, cli]) {
        const why = await client.refusal("getDiagnostics", { uri: `file://${path}` });
        expect(why).toContain(meant === path ? path : JSON.stringify(meant));
      }
    });

    test.each(["http://example.com/a", "no uri", "file://host/a"])("refuses %s", async (uri) => {
      expect(await session.client.refusal("getDiagnostics", { uri })).toContain(uri);
    });
  });
});

const raw = (path: string) => `file://${path.startsWith("/") ? "" : "/"}${path}`;

function range(line: number, character: number, endLine: number, endCharacter: number) {
  return { start: { line, character }, end: { line: endLine, character: endCharacter } };
}
