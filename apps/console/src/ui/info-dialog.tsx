import { Dialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import overlay from "./overlay.module.css";

interface InfoDialogProps {
  readonly title: string;
  readonly text?: string;
  /** The word on the button that closes it. */
  readonly closeText: string;
  readonly close: () => void;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** A dialog that shows something and is closed again; nothing is sent by closing it. */
export function InfoDialog({ title, text, closeText, close, wide = false, children }: InfoDialogProps) {
  return (
    <Dialog.Root open onOpenChange={(open) => open || close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={overlay["backdrop"]} />
        <Dialog.Popup className={wide ? `${overlay["popup"]} ${overlay["wide"]}` : overlay["popup"]}>
          <Dialog.Title>{title}</Dialog.Title>
          {text !== undefined && <Dialog.Description className="muted">{text}</Dialog.Description>}
          {children}
          <div className={overlay["buttons"]}>
            <Dialog.Close render={<Button />}>{closeText}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
