// What every driver does: take the steps of a job in order, and tell one line of JSON for each.
// The packages are found from the folder that they were fetched into, which is not this one.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

// Longer than a run takes to begin, on any machine.
const BEGIN_SECONDS = 60;

export const job = JSON.parse(readFileSync(0, "utf8"));

const packages = createRequire(`${job.packages}/package.json`);
export const load = (name) => import(pathToFileURL(packages.resolve(name)));

// `call` is the client's: tool, arguments, a listener for progress and a signal in, an answer out.
export async function take(call) {
  for (const step of job.steps) {
    const notes = [];
    const note = ({ progress, total, message }) => notes.push([progress, total ?? null, message ?? null]);
    const stop = new AbortController();
    const calling = call(step.tool, step.arguments, note, stop.signal);
    const answer = step.until ? await cancelled(calling, step.until, stop) : await calling;
    console.log(JSON.stringify({ step: step.name, notes, ...answer }));
  }
}

async function cancelled(calling, sign, stop) {
  const end = Date.now() + BEGIN_SECONDS * 1000;
  while (!existsSync(sign) && Date.now() < end) await pause(20);
  stop.abort("enough");
  const answer = await calling;
  return { cancelled: answer.error !== undefined };
}
