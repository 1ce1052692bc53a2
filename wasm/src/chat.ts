// glassformer/chat: conversations with a model that was trained for them.

export { Chat, chatPrompt } from './chat/chat.js';
export type { ChatOptions, ChatMessage, ChatPromptOptions } from './chat/chat.js';
