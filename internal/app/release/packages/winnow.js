#!/usr/bin/env node
// Runs the program for this machine, which is in a package of its own.
const { spawn } = require("node:child_process");

const name = `winnow-llm-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/winnow${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`winnow: the package ${name} is not installed; install again without --omit=optional, or, where there is none for this machine, see https://github.com/winnow-llm/winnow/blob/main/docs/install.md`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
process.on("SIGINT", () => {}); // the terminal sends it to the program, too
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (err) => {
  console.error(`winnow: ${err.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
