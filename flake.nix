{
  description = "Claude Code's editor integration for Neovim";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forAll = each: nixpkgs.lib.genAttrs systems (system: each nixpkgs.legacyPackages.${system});
      version = (builtins.fromJSON (builtins.readFile ./package.json)).version;

      # The packages of bun.lock that are in the executable. `scripts/release --flake` writes the hash.
      dependencies =
        pkgs:
        pkgs.stdenvNoCC.mkDerivation {
          pname = "claude-code-nvim-dependencies";
          inherit version;
          src = nixpkgs.lib.fileset.toSource {
            root = ./.;
            fileset = nixpkgs.lib.fileset.unions [
              ./package.json
              ./bun.lock
            ];
          };
          nativeBuildInputs = [ pkgs.bun ];
          dontConfigure = true;
          dontFixup = true;
          buildPhase = ''
            HOME=$TMPDIR bun install --production --frozen-lockfile --ignore-scripts --no-cache
          '';
          installPhase = "cp -R node_modules $out";
          outputHashMode = "recursive";
          outputHashAlgo = "sha256";
          outputHash = "sha256-0VkGsQEU8mFi+jZOXB5mjYFq7/evwTGpaxuoZ3SeKM4=";
        };

      executable =
        pkgs:
        pkgs.stdenvNoCC.mkDerivation {
          pname = "claude-code-nvim";
          inherit version;
          src = ./.;
          nativeBuildInputs = [ pkgs.bun ];
          dontConfigure = true;
          # The program is appended to Bun's runtime.
          dontStrip = true;
          dontPatchELF = true;
          buildPhase = ''
            # Bun resolves a symlink, and finds no package beside what it leads to.
            cp -R ${dependencies pkgs} node_modules
            HOME=$TMPDIR bun scripts/build.ts
          '';
          installPhase = "HOME=$TMPDIR dist/claude-code-nvim install --prefix $out";
          meta = {
            homepage = "https://github.com/claude-code-nvim/claude-code.nvim";
            license = nixpkgs.lib.licenses.mit;
            mainProgram = "claude-code-nvim";
            platforms = systems;
          };
        };

      plugin =
        pkgs:
        pkgs.vimUtils.buildVimPlugin {
          pname = "claude-code.nvim";
          inherit version;
          src = ./.;
          # It needs lualine.nvim, which alone loads it.
          nvimSkipModules = [ "lualine.components.claude_code" ];
          postInstall = ''
            mkdir -p $out/dist
            ln -s ${executable pkgs}/bin/claude-code-nvim $out/dist/claude-code-nvim
          '';
        };
    in
    {
      packages = forAll (pkgs: {
        default = executable pkgs;
        vimPlugin = plugin pkgs;
      });
    };
}
