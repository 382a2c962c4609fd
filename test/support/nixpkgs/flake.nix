# As much of nixpkgs as flake.nix of the repository uses, without its downloads: programs come from
# the $PATH of the test.
{
  outputs =
    { self }:
    let
      system = builtins.currentSystem;
      derive =
        defaults: attributes:
        let
          given = defaults // attributes;
          fixed = [
            "outputHash"
            "outputHashAlgo"
            "outputHashMode"
          ];
        in
        derivation (
          {
            inherit system;
            inherit (given)
              src
              buildPhase
              installPhase
              postInstall
              ;
            name = given.pname;
            builder = "/bin/sh";
            PATH = builtins.getEnv "PATH";
            args = [
              "-euc"
              ''
                export TMPDIR=$PWD
                cp -R "$src"/. .
                chmod -R u+w .
                eval "$buildPhase"
                eval "$installPhase"
                eval "$postInstall"
              ''
            ];
          }
          // builtins.intersectAttrs (builtins.listToAttrs (
            map (name: {
              inherit name;
              value = null;
            }) fixed
          )) given
        );
      phases = {
        buildPhase = "";
        installPhase = "mkdir -p $out && cp -R . $out";
        postInstall = "";
      };
    in
    {
      lib = {
        genAttrs =
          names: each:
          builtins.listToAttrs (
            map (name: {
              inherit name;
              value = each name;
            }) (builtins.filter (name: name == system) names)
          );
        fileset = {
          unions = map baseNameOf;
          toSource =
            { root, fileset }:
            builtins.path {
              path = root;
              name = "source";
              filter = path: _: builtins.elem (baseNameOf path) fileset;
            };
        };
        licenses.mit = { };
      };
      legacyPackages.${system} = {
        bun = "bun";
        stdenvNoCC.mkDerivation = derive phases;
        vimUtils.buildVimPlugin = derive phases;
      };
    };
}
