declare global {
  var harrierVersion: string;
}

const [, , command] = process.argv;
// This is the one command whose start has a bound of its own, so nothing is loaded for it.
if ((command === "version" || command === "--version") && process.argv.length === 3)
  process.stdout.write(`harrier ${globalThis.harrierVersion}\n`);
else {
  const { main } = await import("./program.ts");
  await main(process.argv.slice(2));
}

export {};
