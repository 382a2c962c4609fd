/** `import … with { type: "text" }` of a Lua file. */
declare module "*.lua" {
  const source: string;
  export default source;
}
