import { expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../support/eventually";
import { NEWEST } from "../support/neovim";
import { EditedProject, PYTHON } from "./edits";

setDefaultTimeout(120_000);

test("pyright renames in files that nobody has open", async () => {
  await using edited = await EditedProject.open(
    NEWEST,
    {
      "a.py": "def old(x):\n    return x\n",
      "b.py": "from a import old\nprint('ä😀', old(1))\n",
    },
    PYTHON,
  );
  const args = { path: "a.py", symbol: "old", new_name: "new" };
  await eventually(
    "the rename",
    async () => {
      expect(await edited.call("rename_symbol", args)).toContain(
        "renamed old to new in 2 files, 3 places, as python reports",
      );
    },
    100_000,
  );
  expect(edited.read("b.py")).toBe("from a import new\nprint('ä😀', new(1))\n");
});
