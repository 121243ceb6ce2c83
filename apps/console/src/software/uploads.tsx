import type { ArtifactView } from "@harrier/contracts";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { invalidate } from "../api/query-client.ts";
import { software, uploads as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { bytes, span } from "../ui/format.ts";
import { Facts } from "../ui/page.tsx";
import { Note, Refusal } from "../ui/states.tsx";
import { Mark } from "../ui/status.tsx";
import style from "./software.module.css";
import { agreement, rateOf } from "./upload.state.ts";
import { uploadFile } from "./upload.ts";

/** The rate is that of so many parts. */
const samplesKept = 8;

/** Where files are dropped or chosen; each is sent by itself. */
export function Uploads({ moduleId, why }: { moduleId: number; why: string | undefined }) {
  const [files, setFiles] = useState<readonly { readonly id: number; readonly file: File }[]>([]);
  const [over, setOver] = useState(false);
  const next = useRef(0);
  const add = (list: FileList | null) => setFiles((old) => [...old, ...Array.from(list ?? [], (file) => ({ id: next.current++, file }))]);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (why === undefined) add(event.dataTransfer.files);
  };
  return (
    <>
      {why === undefined ? (
        // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the button beside it does the same
        <div
          className={style["drop"]}
          data-over={over}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          {software.dropHere}
          <label className={style["pick"]}>
            <span className={buttonClass()}>{software.chooseFile}</span>
            <input type="file" multiple aria-label={software.chooseFile} onChange={(event) => add(event.target.files)} />
          </label>
        </div>
      ) : (
        <p className="muted">{why}</p>
      )}
      {files.map(({ id, file }) => (
        <Upload key={id} file={file} moduleId={moduleId} close={() => setFiles((old) => old.filter((one) => one.id !== id))} />
      ))}
    </>
  );
}

type State = "sending" | "hashing" | "done" | "failed";

/** A gate that can be closed: what waits for it goes on when it is opened. */
function makeGate() {
  let open: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  return {
    wait: () => closed ?? Promise.resolve(),
    close: () => {
      closed ??= new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => {
      open?.();
      closed = undefined;
    },
  };
}

/** Sends the file when it is first shown, and gives it up when it is closed. */
function useUpload(file: File, moduleId: number) {
  const [state, setState] = useState<State>("sending");
  const [samples, setSamples] = useState([{ at: performance.now(), offset: 0 }]);
  const [result, setResult] = useState<{ artifact: ArtifactView; sha256: string | undefined }>();
  const [error, setError] = useState<unknown>();
  const [broken, setBroken] = useState(false);
  const gate = useRef(makeGate());
  const ending = useRef(new AbortController());
  const begun = useRef(false);
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    const onOffset = (offset: number) => setSamples((old) => [...old, { at: performance.now(), offset }].slice(-samplesKept));
    uploadFile(moduleId, file, {
      onOffset,
      onHashing: () => setState("hashing"),
      onBroken: setBroken,
      gate: gate.current.wait,
      signal: ending.current.signal,
    }).then(
      (made) => {
        setResult(made);
        setState("done");
        void invalidate("artifacts", "softwareModules", "distributionSets");
      },
      (thrown) => {
        setError(thrown);
        setState("failed");
      },
    );
  }, [file, moduleId]);
  return { state, samples, result, error, broken, gate: gate.current, cancel: () => ending.current.abort() };
}

function Upload({ file, moduleId, close }: { file: File; moduleId: number; close: () => void }) {
  const { state, samples, result, error, broken, gate, cancel } = useUpload(file, moduleId);
  const [paused, setPaused] = useState(false);
  const offset = samples.at(-1)?.offset ?? 0;
  const rate = rateOf(samples, file.size);
  const toggle = () => {
    if (paused) gate.open();
    else gate.close();
    setPaused(!paused);
  };
  const stop = () => {
    cancel();
    gate.open();
    close();
  };
  const words =
    rate === undefined ? bytes(file.size) : t.sending(bytes(offset), bytes(file.size), bytes(rate.perSecond), span(rate.leftMs));
  return (
    <div className={style["upload"]}>
      <div className={style["uploadHead"]}>
        <b>{file.name}</b>
        <span className="muted num">{state === "sending" ? (paused ? t.paused : words) : t[state === "hashing" ? "hashing" : state]}</span>
        {state === "sending" && (
          <Button small onClick={toggle}>
            {paused ? t.resume : t.pause}
          </Button>
        )}
        <Button small look="ghost" onClick={state === "sending" || state === "hashing" ? stop : close}>
          {state === "sending" ? t.cancel : t.dismiss}
        </Button>
      </div>
      {state !== "done" && <progress max={file.size} value={offset} aria-label={t.progress(file.name)} />}
      {broken && state === "sending" && <Note tone="warn">{t.broken}</Note>}
      <Refusal error={error} />
      {result !== undefined && <Hashes file={result.sha256} server={result.artifact.hashes.sha256} />}
    </div>
  );
}

/** What the file has and what the server has, which must be the same. */
function Hashes({ file, server }: { file: string | undefined; server: string }) {
  const verdict = agreement(file, server);
  return (
    <>
      <Mark
        tone={verdict === "agree" ? "ok" : verdict === "differ" ? "bad" : "warn"}
        sign={verdict === "agree" ? "✓" : verdict === "differ" ? "✕" : "?"}
        word={t[verdict]}
      />
      <Facts
        of={[
          [t.file, file && <code key="file">{file}</code>],
          [t.server, <code key="server">{server}</code>],
        ]}
      />
    </>
  );
}
