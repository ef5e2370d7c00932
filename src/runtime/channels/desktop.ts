import { runWithMessage, type Channel } from './channel.ts'

/** `notify: [desktop]`: the desktop of the user who runs the sprint. */
export const desktopChannel: Channel = {
  send: (_address, message, tools) => runWithMessage(desktopCommand(tools.platform), message, tools),
}

const desktopCommand = (platform: NodeJS.Platform): string =>
  platform === 'darwin'
    ? `osascript -e 'display notification (system attribute "RALPH_TEXT") with title "Ralph"'`
    : `notify-send Ralph "$RALPH_TEXT"`
