/** A file of the plugin, imported as text. */
declare module "*.lua" {
  const text: string;
  export default text;
}
