/** Of a file of the plugin, its text. */
declare module "*.lua" {
  const text: string;
  export default text;
}
