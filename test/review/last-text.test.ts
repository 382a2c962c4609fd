import { outcomeOf, perBlock } from "#test";
import { World } from "./state/world";

const world = perBlock(() => new World());
beforeAll(() => {
  world.edited("a", "1\n2\none\n", "1\n2\ntwo\n");
});

const base64 = (text: string) => Buffer.from(text).toString("base64");
const rows = async (text: unknown) => (await world.file("a", { text }))?.hunks[0]?.new;

test("knows a text by its id until another one is sent", async () => {
  expect(await rows({ id: 1, bytes: base64("mine\n1\n2\ntwo\n") })).toEqual([4, 1]);
  expect(await rows({ id: 1 })).toEqual([4, 1]);
  const { files } = await world.undo([{ path: world.path("a"), text: { id: 1 } }]);
  expect(files[0]?.edits).toHaveLength(1);
  await world.back({ files: [{ path: world.path("a"), text: { id: 1 } }] });
  expect(await rows({ id: 2, bytes: base64("1\n2\ntwo\n") })).toEqual([3, 1]);
  expect(await outcomeOf(rows({ id: 1 }))).toThrow("did not arrive");
  expect(await rows({ id: 2 })).toEqual([3, 1]);
});

test("refuses a text that did not arrive, or is malformed", async () => {
  expect(await outcomeOf(rows({ id: 99 }))).toThrow("did not arrive");
  expect(await outcomeOf(rows({ id: "1" }))).toThrow();
  expect(await outcomeOf(rows({ id: 1, bytes: 1 }))).toThrow();
});
