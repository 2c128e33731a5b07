// @ts-check
// How to work on a study: in Python, in a shell, and over HTTP.
import { API, HOME } from "./api.js";
import { byId } from "./dom.js";
import { code } from "./shell.js";

/** For a shell. @param {string} text */
const quoted = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {any} frame */
export function drawCode(frame) {
  const url = location.origin + HOME.replace(/\/$/, ""), name = frame.name, api = `${location.origin}${API}/studies/${frame.id}`;
  const python = `import ramgape

study = ramgape.Study.load(${JSON.stringify(name)}, ${JSON.stringify(url)})  # the token: RAMGAPE_TOKEN

def trial(arm):
    ...  # try the arm out once
    return reward

study.run(trial)          # until the study is done; any number of workers at once
print(study.report())`;
  const loop = `# or ask and tell yourself
while not study.done:
    for pull in study.ask(4, worker="my-worker"):
        study.tell(pull, trial(pull.arm))`;
  const shell = `export RAMGAPE_TOKEN=...   # not needed on the machine of the server
export RAMGAPE_STORAGE=${quoted(url)}

# a whole worker: the last line that trial.sh prints is the reward
ramgape study work ${quoted(name)} -- ./trial.sh {arm} {seed}

# or one trial at a time
ramgape study ask ${quoted(name)} --worker my-worker --json
ramgape study tell ${quoted(name)} PULL 0.5`;
  const curl = `# tell what came out, and get the next trials, in one request
curl -s ${quoted(`${api}/exchange`)} \\
  -H "Authorization: Bearer $RAMGAPE_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"worker": "my-worker", "count": 2,
       "answers": [{"pull": "PULL", "reward": 0.5}]}'`;
  byId("code-python").replaceChildren(code(python, "the Python code"), code(loop, "the Python loop"));
  byId("code-shell").replaceChildren(code(shell, "the shell commands"));
  byId("code-curl").replaceChildren(code(curl, "the curl command"));
}
